// The history as CSV and as JSON.

/**
 * A cell. Spreadsheets run a text that begins with = + - @ as a formula: such a text gets an apostrophe
 * in front, which they take for "this is text". Numbers stay numbers.
 */
export function cell(value) {
  if (value == null) return "";
  if (typeof value === "number") return String(value);
  const text = /^[=+\-@\t\r\n\u2212\uff1d\uff0b\uff0d\uff20]/.test(value) ? `'${value}` : value;
  return `"${text.replaceAll('"', '""')}"`;
}

const HEADS = ["time", "dataset", "request", "question", "group", "answer", "low", "high", "loss", "problem"];

/** One line for each answer; one for each group of a table. */
export function csv(entries) {
  const lines = [HEADS, ...entries.flatMap(rows)];
  return lines.map((line) => `${line.map(cell).join(",")}\r\n`).join("");
}

function rows(entry) {
  const { time, dataset, request, body, reply, problem } = entry;
  const before = [time, dataset, request, JSON.stringify(body)];
  const loss = reply?.loss && JSON.stringify(reply.loss);
  const line = (group, answer, interval) =>
    [...before, group, typeof answer === "boolean" ? String(answer) : answer, interval?.[0], interval?.[1], loss, problem?.code];
  if (reply?.answer?.rows) return reply.answer.rows.map((row) => line(row.group.join(" / "), row.answer, row.interval));
  // A group, or the edges of quantiles: one cell.
  if (Array.isArray(reply?.answer)) return [line(null, reply.answer.map((part) => [].concat(part).join(" to ")).join(" / "))];
  return [line(null, reply?.answer, reply?.interval)];
}

/** Saves a text as a file of this name. */
export function save(name, type, text) {
  const address = URL.createObjectURL(new Blob([text], { type }));
  const link = document.createElement("a");
  link.href = address;
  link.download = name;
  link.click();
  // After the click the browser has the contents.
  setTimeout(() => URL.revokeObjectURL(address), 10_000);
}
