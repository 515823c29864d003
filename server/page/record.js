// The curator's view of a dataset: its budget, and the lines of its ledger.

import { budgetView } from "./budget.js";
import { button, element } from "./dom.js";
import { save } from "./export.js";
import { problemView } from "./problem.js";
import { request } from "./protocol.js";

export function recordView(desk, dataset) {
  const budget = element("div", {});
  const record = element("div", {});
  let text = "";

  async function read() {
    try {
      text = await request("GET", `/v1/datasets/${encodeURIComponent(dataset.name)}/record`);
      if (typeof text !== "string") text = JSON.stringify(text);
      const lines = text.split("\n").filter(Boolean);
      record.replaceChildren(element("p", { class: "quiet" }, `${lines.length} lines`),
        element("ol", { class: "record", tabindex: "0" }, lines.map((line) => element("li", {}, element("code", {}, line)))));
    } catch (error) {
      record.replaceChildren(problemView(error));
      desk.failed(error);
    }
  }

  const node = element("section", { "aria-labelledby": "record-title" },
    element("h2", { id: "record-title" }, dataset.name), budget,
    element("div", { class: "buttons" }, button("Read the record", read),
      button("Save the record", async () => {
        await read();
        save(`${dataset.name}.jsonl`, "application/jsonl", text);
      })), record);
  return { node, update: () => budget.replaceChildren(budgetView(desk.dataset(dataset.name) ?? dataset)) };
}
