// What was asked and answered since signing in. It is in memory: signing out forgets it.

import { answerView, saidText } from "./chart.js";
import { button, element } from "./dom.js";
import { csv, save } from "./export.js";
import { partsOf } from "./launch.js";
import { quietProblemView } from "./problem.js";
import { KINDS, lossText } from "./words.js";

export function historyView(desk) {
  const list = element("ol", { class: "history", reversed: true });
  const none = element("p", { class: "quiet" }, "Nothing was asked since you signed in.");
  const asCsv = button("Save as CSV", () => save("history.csv", "text/csv", csv(desk.history)));
  const asJson = button("Save as JSON", () => save("history.json", "application/json", JSON.stringify(desk.history, null, 2)));
  let shown = 0;

  function update() {
    for (const entry of desk.history.slice(shown)) list.prepend(entryView(entry));
    shown = desk.history.length;
    none.hidden = shown > 0;
    asCsv.disabled = shown === 0;
    asJson.disabled = shown === 0;
  }

  const node = element("section", { "aria-labelledby": "history-title" },
    element("h2", { id: "history-title" }, "History"), element("div", { class: "buttons" }, asCsv, asJson), none, list);
  return { node, update };
}

function entryView({ time, dataset, request, kind: asked, body, reply, problem }) {
  const [kind, inner] = request === "ask" ? [asked, body] : partsOf(body);
  const what = request === "ask" ? `Question to: ${KINDS[kind] ?? kind}` : KINDS[kind] ?? kind;
  const title = element("p", {}, element("strong", {}, `${what}, in ${dataset}`), " ",
    element("time", { datetime: time, class: "quiet" }, new Date(time).toLocaleTimeString()));
  const parts = [title, element("pre", {}, request === "ask" ? String(inner.where ?? inner.time) : JSON.stringify(body))];
  if (problem) parts.push(quietProblemView({ problem }));
  else if (request === "ask") parts.push(element("p", {}, saidText(reply.answer, kind)));
  else if (request === "release") parts.push(answerView(reply));
  if (reply?.loss) parts.push(element("p", { class: "quiet" }, `Cost ${lossText(reply.loss)}.`));
  return element("li", {}, ...parts);
}
