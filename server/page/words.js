// Numbers, losses and problems in words.

const SYMBOLS = { epsilon: "ε", delta: "δ", rho: "ρ", mu: "μ" };

/** The numbers of a loss: name, symbol and decimal text. An order is none: it is not spent. */
export function numbers(loss) {
  return Object.keys(SYMBOLS)
    .filter((name) => loss[name] !== undefined)
    .map((name) => ({ name, symbol: SYMBOLS[name], text: loss[name] }));
}

/** A loss as text: `ε 0.1`. */
export function lossText(loss) {
  const text = numbers(loss).map(({ symbol, text }) => `${symbol} ${text}`).join(", ");
  return loss.order === undefined ? text : `${text} at the order ${loss.order}`;
}

/** A number, rounded for reading; null is beyond all numbers. */
export function numberText(number) {
  if (number == null) return "unknown";
  return number.toLocaleString("en", { maximumFractionDigits: Math.abs(number) < 100 ? 3 : 1 });
}

export function intervalText([low, high]) {
  const end = (number, infinite) => (number == null ? infinite : numberText(number));
  return `${end(low, "−∞")} to ${end(high, "∞")}`;
}

/** The names of launches, for people. */
export const KINDS = {
  count: "Count",
  sum: "Sum",
  mean: "Mean",
  variance: "Variance",
  largest: "Largest group",
  quantiles: "Quantiles",
  above_threshold: "Search",
  sparse_vector: "Search with counts",
  multiplicative_weights: "Counts by weights",
  continual_count: "Count over time",
  filter: "Share of the budget",
};

/** What to do about an error. The server says what is wrong; here is what helps. */
const ADVICE = {
  refused: "Ask with a smaller loss, group less finely, or ask the curator for a larger budget.",
  over_quota: "This is your part of the dataset's budget. Ask with a smaller loss, or ask the curator for a larger quota.",
  unknown_column: "The columns are listed with the dataset.",
  gone: "Conversations end when the server restarts or after a time without questions. What they cost stands. Open a new one.",
  closed: "Open a new one to go on.",
  interrupted: "The server stopped between the charge and the answer. Ask anew, with a new charge.",
  conflict: "Ask anew.",
  too_many: "Wait a little.",
  failed: "Tell the curator.",
  unauthorized: "Copy the whole token. If it has expired, the curator makes a new one.",
};

export function advice(code) {
  return ADVICE[code];
}
