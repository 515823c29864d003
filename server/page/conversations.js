// Open children side by side, each a conversation. A card stays when its child ends, so that what was
// said can still be read.

import { budgetView } from "./budget.js";
import { saidText } from "./chart.js";
import { button, element, field } from "./dom.js";
import { problemOf, problemView } from "./problem.js";
import { request } from "./protocol.js";
import { snippetView } from "./snippets.js";
import { KINDS, lossText } from "./words.js";

/** After these a child answers no more. */
const ALL_ANSWERS = "Ended: it has given all its answers";
const ENDED = ["gone", "closed"];

export function conversationsView(desk) {
  const cards = new Map();
  const grid = element("div", { class: "cards" });
  const none = element("p", { class: "quiet" }, "No conversation is open. Open a search, a count over time or a share with a question.");

  function update() {
    for (const child of desk.children) {
      if (!cards.has(child.child)) {
        const card = child.kind === "filter" ? shareCard(desk, child) : searchCard(desk, child, () => forget(child.child));
        cards.set(child.child, card);
        grid.append(card.node);
      }
      cards.get(child.child).update?.(child);
    }
    none.hidden = cards.size > 0;
  }

  function forget(child) {
    cards.get(child)?.node.remove();
    cards.delete(child);
    none.hidden = cards.size > 0;
  }

  const node = element("section", { "aria-labelledby": "conversations-title" },
    element("h2", { id: "conversations-title" }, "Conversations"), none, grid);
  return { node, update };
}

function head(child) {
  return [element("h3", {}, KINDS[child.kind] ?? child.kind, " in ", child.dataset),
    // The digest of the schema is the same in all of them.
    element("p", { class: "quiet" }, element("code", {}, child.question.replace(/, schema = [0-9a-f]{64}/, "")))];
}

function shareCard(desk, child) {
  const budget = element("div", {});
  return {
    node: element("article", { class: "card" }, ...head(child), budget,
      button("Ask in this share", () => desk.show("ask", child.dataset, child.child))),
    update: ({ budget: view }) => view && budget.replaceChildren(budgetView(view)),
  };
}

function searchCard(desk, child, forget) {
  let { next } = child;
  let isOpen = true;
  const log = element("ol", { class: "log", role: "log", start: next, tabindex: "0", "aria-label": "Questions and answers" });
  const trouble = element("div", {});
  const overTime = child.kind === "continual_count";
  const input = element("input", {
    type: "text", class: "code", required: true, spellcheck: "false", autocomplete: "off",
    ...(overTime ? { inputmode: "numeric", placeholder: "1" } : { placeholder: "age <= 40" }),
  });
  const submit = element("button", { type: "submit" }, "Ask");
  const state = element("p", { class: "state" }, "Open");
  const close = button("Close", end);
  const form = element("form", { class: "line", submit: ask }, field(overTime ? "Buckets so far" : "Rows where", input), submit);
  const before = next > 0 ? element("p", { class: "quiet" }, `Answered before: ${next}.`) : null;

  // Written when it is looked at: it has the number of the next question.
  const snippets = element("div", {});
  const asSnippet = element("details", {
    toggle: () => snippets.replaceChildren(snippetView({
      origin: location.origin, method: "POST", path: `/v1/children/${child.child}/ask`, body: question(),
    })),
  }, element("summary", {}, "This request as curl, Rust, Python"), snippets);

  function question() {
    if (!overTime) return { number: next, where: input.value };
    // What is no number is sent as it is: the server says what is wrong.
    const time = Number(input.value);
    return { number: next, time: Number.isSafeInteger(time) ? time : input.value };
  }

  async function ask(event) {
    event.preventDefault();
    if (submit.disabled || !isOpen) return;
    const body = question();
    submit.disabled = true;
    trouble.replaceChildren();
    try {
      const reply = await request("POST", `/v1/children/${child.child}/ask`, { body, lost: desk.lost });
      next = reply.next;
      log.append(element("li", { value: String(reply.number) }, element("code", {}, String(body.where ?? body.time)), " ", element("strong", {}, saidText(reply.answer, child.kind))));
      log.lastChild.scrollIntoView({ block: "nearest" });
      input.select();
      if (reply.exhausted) ended(ALL_ANSWERS);
      desk.remember({ dataset: child.dataset, request: "ask", kind: child.kind, body, reply });
    } catch (error) {
      trouble.replaceChildren(problemView(error, body.where));
      desk.remember({ dataset: child.dataset, request: "ask", kind: child.kind, body, problem: problemOf(error) });
      if (ENDED.includes(error.code)) ended(error.code === "gone" ? "Gone" : ALL_ANSWERS);
      if (error.code === "conflict") await catchUp();
      desk.failed(error);
    } finally {
      submit.disabled = !isOpen;
    }
  }

  /** It was asked from elsewhere meanwhile: its next question has another number. */
  async function catchUp() {
    try {
      const now = await request("GET", `/v1/children/${child.child}`, { tries: 2 });
      next = now.next;
      if (now.exhausted) ended(ALL_ANSWERS);
    } catch (error) {
      if (error.code === "gone") ended("Gone");
    }
  }

  function ended(text) {
    isOpen = false;
    state.textContent = text;
    form.hidden = true;
    asSnippet.hidden = true;
    node.classList.add("ended");
    close.textContent = "Remove";
  }

  async function end() {
    if (!isOpen) {
      // The server may still have it, after its last hit.
      await request("DELETE", `/v1/children/${child.child}`).catch(() => {});
      desk.closed(child.child);
      forget();
      return;
    }
    try {
      await request("DELETE", `/v1/children/${child.child}`);
      ended("Closed. What it cost stands.");
    } catch (error) {
      trouble.replaceChildren(problemView(error));
      if (error.code === "gone") ended("Gone");
      desk.failed(error);
    }
    desk.closed(child.child);
  }

  const cost = child.loss ? element("p", { class: "quiet" }, `Cost ${lossText(child.loss)}, for all its answers.`) : null;
  const node = element("article", { class: "card", "data-kind": child.kind }, ...head(child), cost, state, before, log, form, trouble, asSnippet, close);
  if (child.exhausted) ended(ALL_ANSWERS);
  return { node };
}
