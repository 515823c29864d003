// A launch as JSON, from the fields of the form, and back. No element of the page is touched here.

/** The statistics: they are answered once. Everything else is opened. */
export const STATISTICS = ["count", "sum", "mean", "variance"];

export const isOnce = (launch) => STATISTICS.includes(Object.keys(launch)[0]);

/** The name and the contents of a launch. */
export const partsOf = (launch) => Object.entries(launch)[0] ?? ["", {}];

const noise = ({ noise, loss }) => (noise === "epsilon" ? { laplace: { epsilon: loss } } : { gaussian: { [noise]: loss } });

/** Edges as somebody writes them: numbers between commas or spaces. */
export const edgesOf = (text) => text.split(/[\s,;]+/).filter(Boolean).map(Number);

/** An integer if it is one; otherwise the text, about which the server says what is wrong. */
const whole = (text) => (/^-?\d{1,15}$/.test(text.trim()) ? Number(text) : text);

/** The launch that the fields are. Empty fields are left out: the server has defaults. */
export function launchOf(fields) {
  const { kind } = fields;
  if (kind === "above_threshold" || kind === "sparse_vector") {
    const search = { threshold: whole(fields.threshold), hits: whole(fields.hits), epsilon: fields.loss };
    if (kind === "sparse_vector") search.counts_epsilon = fields.countsLoss;
    return { [kind]: search };
  }
  if (kind === "filter") {
    const budget = { [fields.noise]: fields.loss };
    if (fields.delta !== "") budget.delta = fields.delta;
    return { filter: { name: fields.name, budget } };
  }
  const statistic = {};
  if (kind !== "count") statistic.of = fields.of;
  if (fields.where.trim() !== "") statistic.where = fields.where;
  if (fields.by.length > 0) {
    statistic.by = fields.by.map(({ column, edges }) => (edges === undefined ? column : { column, edges: edgesOf(edges) }));
  }
  if (kind !== "count" && fields.low !== "" && fields.high !== "") statistic.clamped = [Number(fields.low), Number(fields.high)];
  if (fields.rowsPerPerson !== "") statistic.rows_per_person = whole(fields.rowsPerPerson);
  statistic.noise = noise(fields);
  if (fields.confidence !== "") statistic.confidence = fields.confidence;
  if ((kind === "mean" || kind === "variance") && fields.expectedRows !== "") statistic.expected_rows = whole(fields.expectedRows);
  return { [kind]: statistic };
}

/**
 * The fields of a launch; null if the form cannot show it, which is known by going back: conditions in
 * JSON, for example, are shown as text only.
 */
export function fieldsOf(launch, defaults) {
  try {
    const [kind, body] = partsOf(launch);
    const text = (value) => (value === undefined ? "" : String(value));
    const [noise, loss] = body.noise?.laplace
      ? ["epsilon", body.noise.laplace.epsilon]
      : Object.entries(body.noise?.gaussian ?? body.budget ?? { epsilon: body.epsilon })[0];
    const fields = {
      ...defaults, kind, noise, loss: text(loss), of: text(body.of), where: text(body.where),
      by: (body.by ?? []).map((by) => (typeof by === "string" ? { column: by } : { column: by.column, edges: by.edges.join(", ") })),
      low: text(body.clamped?.[0]), high: text(body.clamped?.[1]),
      rowsPerPerson: text(body.rows_per_person), confidence: text(body.confidence), expectedRows: text(body.expected_rows),
      threshold: text(body.threshold), hits: text(body.hits), countsLoss: text(body.counts_epsilon),
      name: text(body.name), delta: text(body.budget?.delta),
    };
    return sorted(launchOf(fields)) === sorted(launch) ? fields : null;
  } catch {
    return null;
  }
}

/** JSON in which the order of names does not matter. */
function sorted(value) {
  const order = (_, inner) => (inner !== null && typeof inner === "object" && !Array.isArray(inner)
    ? Object.fromEntries(Object.entries(inner).sort(([one], [other]) => (one < other ? -1 : 1)))
    : inner);
  return JSON.stringify(value, order);
}

/** The condition on one column, as text. Texts and names are quoted as the grammar wants it. */
export function conditionText(column, operator, value) {
  const name = /^[A-Za-z_]\w*$/.test(column.name) ? column.name : `"${column.name.replaceAll('"', '""')}"`;
  if (operator === "IS NULL" || operator === "IS NOT NULL") return `${name} ${operator}`;
  const quoted = `'${value.replaceAll("'", "''")}'`;
  const constants = { text: quoted, date: `DATE ${quoted}`, time: `TIMESTAMP ${quoted}` };
  return `${name} ${operator} ${constants[column.type] ?? value}`;
}

/** Both conditions. An `OR` binds less than the `AND` that joins them. */
export function and(one, other) {
  if (one.trim() === "") return other;
  const first = /\bor\b/i.test(one) ? `(${one})` : one;
  return `${first} AND ${other}`;
}
