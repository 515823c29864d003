// The curator's view of a dataset: its budget, and the record of its ledger.

import { budgetView } from "./budget.js";
import { button, element } from "./dom.js";
import { save } from "./export.js";
import { problemView } from "./problem.js";
import { request } from "./protocol.js";
import { lossText } from "./words.js";

/** The columns of the record. */
const HEADS = ["Number", "Time", "Who", "Decision", "Outcome", "Loss", "Question"];

export function recordView(desk, dataset) {
  const budget = element("div", {});
  const record = element("div", {});

  /** The record as text; null if it cannot be read, which is shown. */
  async function read() {
    try {
      const text = await request("GET", `/v1/datasets/${encodeURIComponent(dataset.name)}/record`);
      record.replaceChildren(linesView(text.split("\n").filter(Boolean).map((line) => JSON.parse(line))));
      return text;
    } catch (error) {
      record.replaceChildren(problemView(error));
      desk.failed(error);
      return null;
    }
  }

  async function keep() {
    const text = await read();
    if (text !== null) save(`${dataset.name}.jsonl`, "application/jsonl", text);
  }

  const node = element("section", { "aria-labelledby": "record-title" },
    element("h2", { id: "record-title" }, dataset.name), budget,
    element("div", { class: "buttons" }, button("Read the record", read), button("Save the record", keep)), record);
  return { node, update: () => budget.replaceChildren(budgetView(desk.dataset(dataset.name) ?? dataset)) };
}

/** One row for each decision, with what became of it. Answers are not shown: they belong to the analyst. */
function linesView(lines) {
  const outcomes = new Map(lines.filter((line) => line.outcome !== undefined).map((line) => [line.sequence, name(line.outcome)]));
  const rows = lines.filter((line) => line.decision !== undefined).map((line) => element("tr", {},
    [line.sequence, line.time.slice(0, 19).replace("T", " "), line.party, name(line.decision), outcomes.get(line.sequence) ?? "", loss(line.loss)]
      .map((text) => element("td", {}, String(text))),
    element("td", {}, element("code", {}, question(line.mechanism)))));
  return element("div", { class: "scroll", tabindex: "0", role: "region", "aria-label": "Record" },
    element("table", { class: "record" },
      element("thead", {}, element("tr", {}, HEADS.map((head) => element("th", { scope: "col" }, head)))),
      element("tbody", {}, ...rows)));
}

/** One number, or an object with several. */
const loss = (value) => (typeof value === "object" ? lossText(value) : value);

/** `"admitted"`, or the name of an object that says more. */
function name(value) {
  const text = typeof value === "string" ? value : Object.keys(value)[0];
  return text.replaceAll("_", " ");
}

function question(mechanism) {
  const parameters = mechanism.parameters ?? [];
  // The digest of the schema is the same in every line, and what is in JSON is for programs.
  return `${mechanism.name}(${parameters.filter(([key]) => key !== "schema" && !key.endsWith(".json")).map(([key, value]) => `${key} = ${value}`).join(", ")})`;
}
