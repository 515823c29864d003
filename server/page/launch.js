// A launch as JSON, from the fields of the form, and back. No element of the page is touched here.

/** What is answered once. Everything else is opened. */
export const STATISTICS = ["count", "sum", "mean", "variance"];
export const CHOICES = ["largest", "quantiles"];

export const isOnce = (launch) => [...STATISTICS, ...CHOICES].includes(Object.keys(launch)[0]);

/** The name and the contents of a launch. */
export const partsOf = (launch) => Object.entries(launch)[0] ?? ["", {}];

const noise = ({ noise, loss }) => (noise === "epsilon" ? { laplace: { epsilon: loss } } : { gaussian: { [noise]: loss } });

/** Edges as somebody writes them: numbers between commas or spaces. */
export const edgesOf = (text) => text.split(/[\s,;]+/).filter(Boolean).map(Number);

/** Quantiles as somebody writes them: `1/4, 1/2`. */
const fractionsOf = (text) => text.split(/[\s,;]+/).filter(Boolean).map((part) => part.split("/").map(whole));

/** An integer if it is one; otherwise the text, about which the server says what is wrong. */
const whole = (text) => (/^-?\d{1,15}$/.test(text.trim()) ? Number(text) : text);

/** The launch that the fields are. Empty fields are left out: the server has defaults. */
export function launchOf(fields) {
  const { kind } = fields;
  const rows = fields.where.trim() === "" ? {} : { where: fields.where };
  const groups = fields.by.map(({ column, edges }) => (edges === undefined ? column : { column, edges: edgesOf(edges) }));
  const buckets = { column: fields.column, edges: edgesOf(fields.edges) };
  if (kind === "largest") return { largest: { ...rows, by: groups, epsilon: fields.loss } };
  if (kind === "quantiles") {
    return { quantiles: { ...rows, of: buckets, quantiles: fractionsOf(fields.quantiles), epsilon: fields.loss } };
  }
  if (kind === "continual_count") return { continual_count: { ...rows, of: buckets, noise: noise(fields) } };
  if (kind === "multiplicative_weights") {
    const { about, threshold, updates, loss } = fields;
    return { multiplicative_weights: { by: groups, rows: whole(about), threshold: whole(threshold), updates: whole(updates), epsilon: loss } };
  }
  if (kind === "above_threshold" || kind === "sparse_vector") {
    const search = { threshold: whole(fields.threshold), hits: whole(fields.hits), epsilon: fields.loss };
    if (kind === "sparse_vector") search.counts_epsilon = fields.countsLoss;
    return { [kind]: search };
  }
  if (kind === "filter") {
    const budget = { [fields.noise]: fields.loss };
    if (fields.delta !== "") budget.delta = fields.delta;
    if (fields.order !== "") budget.order = fields.order;
    return { filter: { name: fields.name, budget } };
  }
  const statistic = {};
  if (kind !== "count") statistic.of = fields.of;
  Object.assign(statistic, rows);
  if (groups.length > 0) statistic.by = groups;
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
    const { delta, order, ...share } = body.budget ?? {};
    const [noise, loss] = body.noise?.laplace
      ? ["epsilon", body.noise.laplace.epsilon]
      : Object.entries(body.noise?.gaussian ?? (body.budget ? share : { epsilon: body.epsilon }))[0];
    const buckets = typeof body.of === "object" ? body.of : {};
    const fields = {
      ...defaults, kind, noise, loss: text(loss), of: typeof body.of === "object" ? "" : text(body.of), where: text(body.where),
      by: (body.by ?? []).map((by) => (typeof by === "string" ? { column: by } : { column: by.column, edges: by.edges.join(", ") })),
      low: text(body.clamped?.[0]), high: text(body.clamped?.[1]),
      rowsPerPerson: text(body.rows_per_person), confidence: text(body.confidence), expectedRows: text(body.expected_rows),
      threshold: text(body.threshold), hits: text(body.hits), countsLoss: text(body.counts_epsilon),
      name: text(body.name), delta: text(delta), order: text(order),
      column: text(buckets.column ?? defaults.column), edges: (buckets.edges ?? []).join(", "),
      quantiles: (body.quantiles ?? []).map((part) => part.join("/")).join(", "),
      about: text(body.rows), updates: text(body.updates),
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
