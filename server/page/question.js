// The form that builds a launch: by clicking, or as text.

import { button, choice, element, field } from "./dom.js";
import { CHOICES, and, conditionText, fieldsOf, launchOf } from "./launch.js";
import { KINDS, numbers } from "./words.js";

const OPERATORS = ["=", "<>", "<", "<=", ">", ">="].map((text) => [text, text]);
const NULLS = [["IS NULL", "is missing"], ["IS NOT NULL", "is there"]];

const NOISES = [
  ["epsilon", "Laplace, for an ε"],
  ["rho", "Gaussian, for a ρ (zCDP)"],
  ["mu", "Gaussian, for a μ (GDP)"],
];

const STATISTICS_OF_A_NUMBER = ["sum", "mean", "variance"];
const WITH_ROWS = ["count", ...STATISTICS_OF_A_NUMBER];
const SEARCHES = ["above_threshold", "sparse_vector"];
const OVER_BUCKETS = ["quantiles", "continual_count"];

/** Which fields belong to which kinds of launch. */
const SHOWN = {
  of: STATISTICS_OF_A_NUMBER,
  rows: [...WITH_ROWS, "largest", ...OVER_BUCKETS],
  by: [...WITH_ROWS, "largest", "multiplicative_weights"],
  buckets: OVER_BUCKETS,
  quantiles: ["quantiles"],
  noise: [...WITH_ROWS, "continual_count", "filter"],
  expectedRows: ["mean", "variance"],
  range: STATISTICS_OF_A_NUMBER,
  more: WITH_ROWS,
  threshold: [...SEARCHES, "multiplicative_weights"],
  weights: ["multiplicative_weights"],
  countsLoss: ["sparse_vector"],
  name: ["filter"],
};

/**
 * A form for a dataset. `changed` is called whenever the launch may be another one; `launch()` is the
 * launch, or throws what is wrong with the text.
 */
export function questionForm(dataset, changed) {
  const { columns } = dataset.schema;
  // Launches may be stated in another measure than the budget; what is left is stated as they are.
  const [{ name: measure }] = numbers(dataset.remaining);
  const { order } = dataset.remaining;
  const hasDelta = dataset.remaining.delta !== undefined;
  const numeric = columns.filter(({ type }) => type === "whole" || type === "real");
  const input = (attributes = {}) => element("input", { type: "text", spellcheck: "false", autocomplete: "off", input: changed, ...attributes });
  const number = (attributes) => input({ inputmode: "decimal", ...attributes });

  const controls = {
    kind: choice([
      { label: "Answered once", options: [...WITH_ROWS, ...CHOICES].map((kind) => [kind, KINDS[kind]]) },
      { label: "A conversation", options: [...SEARCHES, "multiplicative_weights", "continual_count"].map((kind) => [kind, KINDS[kind]]) },
      { label: "Set aside", options: [["filter", KINDS.filter]] },
    ], { change: shown }),
    of: input({ list: "number-columns" }),
    where: input({ class: "code", placeholder: "all rows" }),
    noise: choice(NOISES, { change: changed }),
    loss: number({ required: true }),
    delta: number(),
    low: number(), high: number(),
    rowsPerPerson: number(), confidence: number({ placeholder: "0.95" }), expectedRows: number(),
    threshold: number(), hits: number(), countsLoss: number(),
    column: choice(numeric.map(({ name }) => [name, name]), { change: () => { controls.edges.value = edgesFor(controls.column.value); changed(); } }),
    edges: input({ class: "code" }), quantiles: input(), about: number(), updates: number(),
    name: input(), order: input(),
  };
  const edgesFor = (name) => edgesOver(numeric.find((column) => column.name === name) ?? {}, 8).join(", ");
  const groups = columns.map((column) => groupField(column, input, changed)).filter(Boolean);
  const defaults = {
    kind: "count", of: "", where: "", by: [], noise: measure, loss: measure === "epsilon" ? "0.1" : "0.01", delta: "",
    low: "", high: "", rowsPerPerson: "", confidence: "", expectedRows: "",
    threshold: "1000", hits: "1", countsLoss: "0.05", name: "", order: order ?? "",
    column: numeric[0]?.name ?? "", edges: edgesFor(numeric[0]?.name), quantiles: "1/2", about: "1000", updates: "5",
  };

  const hits = field("Hits", controls.hits, "After this many it ends.");
  const parts = {
    of: field("Of", controls.of, "A column, or whole numbers computed from columns: hours_per_week * 52"),
    rows: element("div", { class: "field" }, field("Rows where", controls.where), clauses(columns, (clause) => {
      controls.where.value = and(controls.where.value, clause);
      changed();
    })),
    by: element("fieldset", {}, element("legend", {}, "Grouped by"), ...groups.map((group) => group.node)),
    noise: field("Noise", controls.noise),
    loss: field("Loss", controls.loss, "A decimal number. More loss, less noise."),
    countsLoss: field("Loss of the counts", controls.countsLoss, "On top, for all hits together."),
    buckets: element("div", {}, field("Column", controls.column), field("Edges of its buckets", controls.edges, "From each edge up to, and without, the next one.")),
    quantiles: field("Quantiles", controls.quantiles, "As fractions: 1/4, 1/2, 3/4. Each is found between two edges."),
    threshold: element("div", { class: "pair" }, field("Threshold", controls.threshold), hits),
    weights: element("div", { class: "pair" }, field("Rows, about", controls.about), field("Corrections", controls.updates, "After this many it ends.")),
    name: field("Name", controls.name, "Letters, digits, - _ and ."),
    delta: field("δ", controls.delta),
    expectedRows: field("Expected rows", controls.expectedRows, "A guess, for the error bar only."),
    range: element("div", { class: "pair" }, field("Clamped from", controls.low), field("to", controls.high, "That of the column by default.")),
    more: element("details", {}, element("summary", {}, "More"),
      element("div", { class: "pair" }, field("Rows per person", controls.rowsPerPerson, "1 by default."), field("Confidence", controls.confidence))),
  };
  const list = element("datalist", { id: "number-columns" },
    numeric.map(({ name }) => element("option", { value: name })));
  const clicked = element("div", { class: "clicked" },
    field("What", controls.kind), parts.name, parts.of, parts.rows, parts.buckets, parts.quantiles, parts.by, parts.threshold, parts.weights, parts.noise,
    parts.loss, parts.delta, parts.countsLoss, parts.expectedRows, parts.range, parts.more, list);

  const text = element("textarea", { class: "code", rows: 12, spellcheck: "false", input: changed });
  const written = element("div", { hidden: true }, field("The question as JSON", text, "Conditions are texts, or JSON. The form shows what it can."));
  const trouble = element("p", { class: "quiet", role: "status" });
  const byClicking = button("By clicking", () => toFields(), { "aria-pressed": "true" });
  const asText = button("As text", () => toText(), { "aria-pressed": "false" });

  function read() {
    const fields = { by: groups.map((group) => group.read()).filter(Boolean) };
    for (const [name, control] of Object.entries(controls)) fields[name] = control.value;
    return fields;
  }

  function write(fields) {
    for (const [name, control] of Object.entries(controls)) control.value = fields[name];
    for (const group of groups) group.write(fields.by);
    shown();
  }

  function shown() {
    const kind = controls.kind.value;
    for (const [name, kinds] of Object.entries(SHOWN)) parts[name].hidden = !kinds.includes(kind);
    parts.delta.hidden = kind !== "filter" || !hasDelta;
    hits.hidden = !SEARCHES.includes(kind);
    changed();
  }

  function turn(isText) {
    written.hidden = !isText;
    clicked.hidden = isText;
    byClicking.setAttribute("aria-pressed", String(!isText));
    asText.setAttribute("aria-pressed", String(isText));
    trouble.textContent = "";
    changed();
  }

  function toText() {
    if (written.hidden) text.value = JSON.stringify(launchOf(read()), null, 2);
    turn(true);
  }

  function toFields() {
    if (!written.hidden) {
      const fields = fieldsOf(parsed(text.value), defaults);
      if (fields === null) {
        trouble.textContent = "The form cannot show this question: it stays a text.";
        return;
      }
      write(fields);
    }
    turn(false);
  }

  const launch = () => (written.hidden ? launchOf(read()) : JSON.parse(text.value));
  write(defaults);
  return {
    node: element("div", { class: "question" },
      element("div", { class: "switch", role: "group", "aria-label": "How to write the question" }, byClicking, asText),
      trouble, clicked, written),
    launch,
    /** The condition, for the mark under a wrong character. */
    condition: () => (written.hidden ? controls.where.value : undefined),
  };
}

function parsed(text) {
  try {
    return JSON.parse(text);
  } catch {
    return {};
  }
}

/** A column to group by; none if it has neither categories nor numbers. */
function groupField(column, input, changed) {
  const isNumber = column.type === "whole" || column.type === "real";
  if (!column.categories && !isNumber && column.type !== "bool") return null;
  const box = element("input", { type: "checkbox", change: () => { if (edges) edges.hidden = !box.checked; changed(); } });
  const edges = isNumber && !column.categories
    ? input({ hidden: true, class: "code", "aria-label": `Edges of buckets for ${column.name}`, value: edgesOver(column, 4).join(", ") })
    : null;
  return {
    node: element("div", { class: "group" }, element("label", {}, box, " ", column.name), edges),
    read: () => (box.checked ? { column: column.name, edges: edges?.value } : null),
    write: (by) => {
      const mine = by.find((each) => each.column === column.name);
      box.checked = mine !== undefined;
      if (edges) edges.hidden = !box.checked;
      if (edges && mine?.edges !== undefined) edges.value = mine.edges;
    },
  };
}

/** Edges of so many buckets over the range of a column. The last one is beyond the largest number. */
function edgesOver({ range = [0, 100] }, parts) {
  const [low, high] = range;
  const edges = Array.from({ length: parts + 1 }, (_, part) => Math.round(low + ((high + 1 - low) * part) / parts));
  return [...new Set(edges)];
}

/** Adds a condition on one column by clicking. */
function clauses(columns, add) {
  const which = choice(columns.map(({ name }) => [name, name]), { "aria-label": "Column", change: values });
  const operator = choice([...OPERATORS, ...NULLS], { "aria-label": "Comparison" });
  const place = element("span", {});
  let value;
  function values() {
    const column = columns.find(({ name }) => name === which.value);
    const options = column.categories ?? (column.type === "bool" ? ["true", "false"] : null);
    value = options
      ? choice(options.map((each) => [String(each), String(each)]), { "aria-label": "Value" })
      : element("input", { type: "text", size: 8, "aria-label": "Value", value: column.range?.[0] ?? "" });
    place.replaceChildren(value);
  }
  values();
  const node = button("Add condition", () => {
    const column = columns.find(({ name }) => name === which.value);
    add(conditionText(column, operator.value, value.value));
  });
  return element("div", { class: "clauses", role: "group", "aria-label": "Add a condition by clicking" }, which, operator, place, node);
}
