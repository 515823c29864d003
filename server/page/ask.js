// The view that asks: a dataset, its budget and schema, the form, what it would cost, the answer.

import { budgetView } from "./budget.js";
import { answerView } from "./chart.js";
import { button, choice, debounced, element, field } from "./dom.js";
import { isOnce, partsOf } from "./launch.js";
import { problemOf, problemView, quietProblemView } from "./problem.js";
import { budgetPath, newKey, request } from "./protocol.js";
import { questionForm } from "./question.js";
import { snippetView } from "./snippets.js";
import { KINDS, lossText, numberText } from "./words.js";

/** How long nothing is typed before the server is asked for a preview. */
const QUIET = 250;

/** After these nobody knows whether the launch was charged: it is asked for again with the same key. */
const UNDECIDED = ["unreachable", "unavailable", "busy", "too_many", "too_slow", "unknown"];

/** The view of one dataset. `desk` knows the children, the history, and how to refresh the budgets. */
export function askView(desk, dataset) {
  const budget = element("div", {});
  const preview = element("div", { class: "preview", "aria-live": "polite" });
  const answer = element("div", { class: "answer-place", "aria-live": "polite" });
  const snippets = element("div", {});
  const place = choice([["", dataset.name]], { change: () => changed() });
  const placeField = field("Charged to", place);
  const submit = element("button", { type: "submit" }, "Ask");
  // The keys of questions that are not decided yet: asked again, each is charged once.
  const keys = new Map();
  let stop = new AbortController();

  const look = debounced(QUIET, async () => {
    stop.abort();
    stop = new AbortController();
    const { signal } = stop;
    const launch = launched();
    if (launch === null) return;
    snippets.replaceChildren(snippetView({ origin: location.origin, method: "POST", ...requested(launch) }));
    submit.textContent = isOnce(launch) ? "Ask" : "Open";
    if (partsOf(launch)[0] === "filter") {
      preview.replaceChildren(element("p", {}, "A share costs its budget, which is set aside for you for good."));
      return;
    }
    try {
      const path = `${budgetPath(dataset.name, place.value)}/preview`;
      const seen = await request("POST", path, { body: launch, signal, tries: 3 });
      preview.replaceChildren(previewView(seen, partsOf(launch)[0]));
    } catch (error) {
      if (signal.aborted) return;
      preview.replaceChildren(quietProblemView(error, form.condition()));
      desk.failed(error);
    }
  });
  const changed = () => look();
  const form = questionForm(dataset, changed);

  /** The launch; null if the text is no JSON, which is said. */
  function launched() {
    try {
      const launch = form.launch();
      if (launch !== null && typeof launch === "object" && !Array.isArray(launch)) return launch;
      throw new SyntaxError("A question is an object: {\"count\": …}");
    } catch (error) {
      preview.replaceChildren(element("p", { class: "problem" }, error.message));
      return null;
    }
  }

  async function ask(event) {
    event.preventDefault();
    const launch = launched();
    if (launch === null || submit.disabled) return;
    const asked = requested(launch);
    const once = isOnce(launch);
    const entry = { dataset: dataset.name, request: once ? "release" : "open", body: launch };
    submit.disabled = true;
    answer.replaceChildren(element("p", { class: "quiet" }, "Waiting for the answer …"));
    try {
      const reply = await request("POST", asked.path, { ...asked, lost: desk.lost });
      keys.delete(asked.name);
      desk.remember({ ...entry, reply: once ? reply : withoutChild(reply) });
      if (once) answer.replaceChildren(releasedView(launch, reply));
      else opened(reply);
    } catch (error) {
      if (!UNDECIDED.includes(error.code)) keys.delete(asked.name);
      desk.remember({ ...entry, problem: problemOf(error) });
      answer.replaceChildren(problemView(error, form.condition()));
      desk.failed(error);
    } finally {
      submit.disabled = false;
      await desk.refresh();
    }
  }

  function opened(child) {
    desk.opened(child);
    answer.replaceChildren(element("p", {}, `${KINDS[child.kind] ?? child.kind} opened${child.loss ? `, for ${lossText(child.loss)}` : ""}. `,
      button("Go to the conversations", () => desk.show("conversations"))));
  }

  /** The request for a launch, with the key that it has until it is decided. */
  function requested(launch) {
    const path = `${budgetPath(dataset.name, place.value)}/${isOnce(launch) ? "release" : "children"}`;
    const name = JSON.stringify([path, launch]);
    // The name of a share is its key.
    if (!keys.has(name) && partsOf(launch)[0] !== "filter") keys.set(name, newKey());
    return { name, path, body: launch, key: keys.get(name) };
  }

  /** After each change of budgets or children. The form is left as it is. */
  function update() {
    const now = desk.dataset(dataset.name) ?? dataset;
    budget.replaceChildren(budgetView(now));
    const shares = desk.children.filter((child) => child.kind === "filter" && child.dataset === dataset.name);
    const chosen = place.value;
    place.replaceChildren(...[["", dataset.name], ...shares.map((share) => [share.child, `share ${share.question}`])]
      .map(([value, text]) => element("option", { value }, text)));
    place.value = chosen;
    placeField.hidden = shares.length === 0;
    changed();
  }

  const node = element("div", { class: "ask" },
    element("section", { "aria-labelledby": "dataset-name" },
      element("h2", { id: "dataset-name" }, dataset.name), budget, schemaView(dataset.schema)),
    element("section", { "aria-labelledby": "question-title" },
      element("h2", { id: "question-title" }, "Question"),
      element("form", { submit: ask }, form.node, placeField,
        element("h3", {}, "Before you ask"), preview, submit)),
    element("section", { "aria-labelledby": "answer-title" },
      element("h2", { id: "answer-title" }, "Answer"), answer,
      element("details", { class: "snippets" }, element("summary", {}, "This request as curl, Rust, Python"), snippets)));
  answer.append(element("p", { class: "quiet" }, "Nothing was asked yet."));
  const chargeTo = (share) => {
    place.value = share;
    changed();
  };
  return { node, update, chargeTo };
}

/** The identifier of a child is a secret: it is not kept in the history. */
function withoutChild({ child, ...rest }) {
  return rest;
}

function previewView(seen, kind) {
  const often = `${seen.at_least ? "at least " : ""}${seen.launches_left}`;
  const fits = seen.launches_left > 0 || seen.at_least;
  const accuracy = seen.accuracy == null
    ? (["mean", "variance"].includes(kind) ? "needs a guess of the number of rows" : "not known")
    : `± ${numberText(seen.accuracy)}`;
  const entries = [
    ["Cost", lossText(seen.cost)],
    ["Fits", `${often} ${seen.launches_left === 1 ? "time" : "times"}`],
    [`Error bar (${percent(seen.confidence)})`, accuracy],
  ];
  return element("div", {},
    element("dl", { class: "numbers" }, entries.map(([name, text]) => element("div", {}, element("dt", {}, name), element("dd", {}, text)))),
    fits ? null : element("p", { class: "problem" }, "The budget or your quota does not allow this. Asking would be refused, and would cost nothing."),
    seen.answered_before ? element("p", { class: "note" }, "This was answered before. Asking again costs again.") : null,
    element("details", {}, element("summary", { class: "quiet" }, "How the ledger would record it"), element("code", {}, seen.question)));
}

const percent = (confidence) => `${Number((100 * Number(confidence)).toFixed(6))} %`;

function releasedView(launch, reply) {
  const confidence = partsOf(launch)[1].confidence ?? "0.95";
  const holds = Array.isArray(reply.answer) ? "" : `Each interval holds with probability ${percent(confidence)}. `;
  return element("div", {}, answerView(reply),
    element("p", { class: "quiet" }, `${holds}Cost ${lossText(reply.loss)}; ${lossText(reply.remaining)} of the budget is left.`));
}

function schemaView({ person, columns }) {
  const domain = (column) => {
    if (column.categories) return column.categories.join(", ");
    if (column.range) return `${column.range[0]} to ${column.range[1]}`;
    return "";
  };
  const who = person?.each_row ? "Each row is one person." : `One person is one value of ${JSON.stringify(person?.column ?? person)}.`;
  return element("details", { open: true }, element("summary", {}, "Columns"),
    element("p", { class: "quiet" }, who),
    element("div", { class: "scroll", tabindex: "0", role: "region", "aria-label": "Columns" },
      element("table", {},
        element("thead", {}, element("tr", {}, ["Name", "Type", "Values"].map((head) => element("th", { scope: "col" }, head)))),
        element("tbody", {}, columns.map((column) => element("tr", {},
          element("th", { scope: "row" }, column.name), element("td", {}, column.type), element("td", {}, domain(column))))))));
}
