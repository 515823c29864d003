// An answer: a number with its interval, or a table whose rows have bars with error bars.

import { element, shape } from "./dom.js";
import { intervalText, numberText } from "./words.js";

/** Groups that are drawn: more would make the page slow. */
const MOST_ROWS = 1000;

/** `reply` has `answer`, and `interval` if it is a number. */
export function answerView(reply) {
  const { answer, interval } = reply;
  if (Array.isArray(answer)) return chosen(answer);
  if (answer !== null && typeof answer === "object") return table(answer);
  if (interval) {
    const scale = scaleOf([reply]);
    return element("div", { class: "number" },
      element("p", { class: "large" }, numberText(answer)),
      element("p", {}, "Interval: ", element("strong", {}, intervalText(interval))),
      scale && bars(reply, scale));
  }
  return element("p", { class: "large" }, saidText(answer));
}

/** A group, with a label for each column; or for each quantile the edges between which it is. */
function chosen(answer) {
  const isGroup = answer.every((label) => !Array.isArray(label));
  if (isGroup) return element("p", { class: "large" }, answer.join(", "));
  return element("ol", { class: "chosen" }, answer.map(([low, high]) => element("li", {}, `from ${low} to ${high}`)));
}

/** What a conversation said: a count, or whether something looks large. */
export function saidText(answer, kind) {
  const isCount = kind === "multiplicative_weights" || kind === "continual_count";
  if (isCount) return `about ${numberText(answer)}`;
  if (answer === true) return "✓ above the threshold";
  if (answer === false || answer === null) return "✗ below the threshold";
  return `✓ above: about ${numberText(answer)}`;
}

function table({ columns, rows }) {
  const scale = scaleOf(rows);
  const heads = [...columns.map((name) => element("th", { scope: "col" }, name)),
    element("th", { scope: "col", class: "chart" }, scale ? axis(scale) : "Chart"),
    element("th", { scope: "col", class: "value" }, "Answer"),
    element("th", { scope: "col", class: "value" }, "Interval")];
  const lines = rows.slice(0, MOST_ROWS).map((row) => element("tr", {},
    row.group.map((label) => element("th", { scope: "row" }, label)),
    element("td", { class: "chart" }, scale && bars(row, scale)),
    element("td", { class: "value" }, numberText(row.answer)),
    element("td", { class: "value" }, intervalText(row.interval))));
  return element("div", { class: "scroll", tabindex: "0", role: "region", "aria-label": "Answer, as a table" },
    element("table", { class: "answer" },
      rows.length > MOST_ROWS ? element("caption", {}, `The first ${MOST_ROWS} of ${rows.length} groups. The history saves all of them.`) : null,
      element("thead", {}, element("tr", {}, ...heads)), element("tbody", {}, ...lines)));
}

/** The ends of the axis: it holds zero, every answer and every end of an interval. */
function scaleOf(rows) {
  const numbers = rows.flatMap((row) => [row.answer, ...row.interval]).filter((number) => number != null);
  if (numbers.length === 0) return null;
  const low = numbers.reduce((one, other) => Math.min(one, other), 0);
  const high = numbers.reduce((one, other) => Math.max(one, other), 0);
  return high > low ? { low, high } : { low, high: low + 1 };
}

function axis({ low, high }) {
  return element("span", { class: "axis" },
    element("span", {}, numberText(low)), element("span", {}, numberText(high)));
}

/** A bar from zero to the answer, and over it a line from one end of the interval to the other. */
function bars({ answer, interval }, { low, high }) {
  const place = (number) => (100 * (number - low)) / (high - low);
  const line = (x1, y1, x2, y2) => shape("line", { class: "whisker", x1, y1, x2, y2 });
  const parts = [shape("line", { class: "zero", x1: place(0), x2: place(0), y1: 0, y2: 20 })];
  if (answer != null) {
    const [from, to] = [place(0), place(answer)].sort((one, other) => one - other);
    parts.unshift(shape("rect", { class: "value-bar", x: from, y: 3, width: to - from, height: 14 }));
  }
  if (interval.some((end) => end != null)) {
    const [from, to] = [place(interval[0] ?? low), place(interval[1] ?? high)];
    parts.push(line(from, 10, to, 10));
    // An end without a stroke across goes on.
    if (interval[0] != null) parts.push(line(from, 5, from, 15));
    if (interval[1] != null) parts.push(line(to, 5, to, 15));
  }
  return shape("svg", { class: "bars", viewBox: "0 0 100 20", preserveAspectRatio: "none", "aria-hidden": "true" }, ...parts);
}
