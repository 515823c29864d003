// The desk: signing in, the views, and what they share.

import { askView } from "./ask.js";
import { conversationsView } from "./conversations.js";
import { button, element, field } from "./dom.js";
import { historyView } from "./history.js";
import { problemView } from "./problem.js";
import { request, setToken } from "./protocol.js";
import { recordView } from "./record.js";

const main = document.getElementById("main");
const navigation = document.getElementById("views");
const account = document.getElementById("account");
const notice = document.getElementById("notice");

function signIn(error) {
  setToken(null);
  navigation.replaceChildren();
  account.replaceChildren();
  notice.textContent = "";
  const input = element("input", { type: "password", required: true, autocomplete: "off", spellcheck: "false" });
  const submit = element("button", { type: "submit" }, "Sign in");
  const trouble = element("div", {}, error ? problemView(error) : null);
  const form = element("form", {
    submit: async (event) => {
      event.preventDefault();
      submit.disabled = true;
      setToken(input.value.trim());
      try {
        const me = await request("GET", "/v1/me", { tries: 2 });
        await start(me, await request("GET", "/v1/datasets", { tries: 2 }));
      } catch (problem) {
        setToken(null);
        input.value = "";
        trouble.replaceChildren(problemView(problem));
        input.focus();
      } finally {
        submit.disabled = false;
      }
    },
  }, field("Token", input, "The curator gave you one. It stays in this page's memory: reloading forgets it."), submit, trouble);
  main.replaceChildren(element("section", { class: "sign-in", "aria-labelledby": "sign-in-title" },
    element("h2", { id: "sign-in-title" }, "Sign in"), form));
  input.focus();
}

/** Everything of one signing in. */
async function start(me, datasets) {
  // A reply that comes after signing out does not concern whoever signs in next.
  let signedIn = true;
  const desk = {
    datasets,
    children: [],
    /** The curator sees budgets and records, and asks nothing. */
    isCurator: me.role === "curator",
    history: [],
    dataset: (name) => desk.datasets.find((dataset) => dataset.name === name),
    remember(entry) {
      desk.history.push({ time: new Date().toISOString(), ...entry });
      views.history?.update();
    },
    opened(child) {
      if (!desk.children.some((known) => known.child === child.child)) desk.children.push(child);
      views.conversations?.update();
    },
    closed(child) {
      desk.children = desk.children.filter((known) => known.child !== child);
    },
    lost: () => signedIn && say("The server does not answer. Trying again; nothing is charged twice."),
    failed(error) {
      if (!signedIn) return;
      if (error.code === "unauthorized") signOut(error);
      else say("");
    },
    async refresh() {
      if (!signedIn) return;
      try {
        desk.datasets = await request("GET", "/v1/datasets", { tries: 2 });
        if (!desk.isCurator) {
          const children = await request("GET", "/v1/children", { tries: 2 });
          // What was known when a child was opened is not said again.
          desk.children = children.map((child) => ({ ...desk.children.find((known) => known.child === child.child), ...child }));
        }
        say("");
        for (const view of Object.values(views)) view.update?.();
      } catch (error) {
        desk.failed(error);
      }
    },
    show,
  };
  const views = {};
  if (!desk.isCurator) desk.children = await request("GET", "/v1/children", { tries: 2 });
  const asked = new Map();
  for (const dataset of datasets) asked.set(dataset.name, desk.isCurator ? recordView(desk, dataset) : askView(desk, dataset));
  let dataset = datasets[0]?.name;

  const tabs = element("div", { class: "switch", role: "group", "aria-label": "Datasets" },
    datasets.map(({ name }) => button(name, () => show("ask", name), { "data-dataset": name })));
  const place = element("div", {});
  views.ask = {
    node: element("div", {}, datasets.length > 1 ? tabs : null, place),
    update: () => asked.get(dataset)?.update(),
  };
  if (datasets.length === 0) place.append(element("p", {}, "This token has no dataset."));
  if (!desk.isCurator) {
    views.conversations = conversationsView(desk);
    views.history = historyView(desk);
  }
  const names = { ask: desk.isCurator ? "Datasets" : "Ask", conversations: "Conversations", history: "History" };
  navigation.replaceChildren(...Object.keys(views).map((name) => button(names[name], () => show(name), { "data-view": name })));
  account.replaceChildren(element("span", { class: "quiet" }, me.name), button("Sign out", () => signOut()));

  function signOut(error) {
    signedIn = false;
    signIn(error);
  }

  function show(name, which, share) {
    if (which) dataset = which;
    if (name === "ask" && dataset) {
      place.replaceChildren(asked.get(dataset).node);
      for (const tab of tabs.children) tab.setAttribute("aria-pressed", String(tab.dataset.dataset === dataset));
    }
    for (const link of navigation.children) {
      if (link.dataset.view === name) link.setAttribute("aria-current", "page");
      else link.removeAttribute("aria-current");
    }
    views[name].update?.();
    if (share) asked.get(dataset).chargeTo(share);
    main.replaceChildren(views[name].node);
    main.focus({ preventScroll: true });
    window.scrollTo(0, 0);
  }

  show("ask");
}

function say(text) {
  if (notice.textContent !== text) notice.textContent = text;
}

signIn();
