// A budget as bars: how much is spent, how much is left.

import { element, shape } from "./dom.js";
import { numbers } from "./words.js";

/** Strokes from top to bottom, over the whole width. */
const HATCHING = Array.from({ length: 50 }, (_, stroke) => `M${2 * stroke + 1} 0V8`).join("");

/** The bars of a dataset or a share: one for each number of its loss, and one for the quota. */
export function budgetView(view) {
  const bars = numbers(view.limit).map(({ name, symbol, text }) =>
    bar({
      label: `Budget, ${symbol}`,
      spent: view.spent[name],
      remaining: view.remaining[name],
      limit: text,
    }));
  for (const { name, symbol, text } of numbers(view.quota ?? {})) {
    bars.push(bar({
      label: `Your quota, ${symbol}`,
      remaining: view.quota_remaining[name],
      limit: text,
    }));
  }
  const launched = view.launched === 1 ? "1 launch" : `${view.launched} launches`;
  const note = view.halted
    ? element("p", { class: "problem" }, "This budget was stopped for good: it answers no more.")
    : element("p", { class: "quiet" }, `${launched} so far.`);
  return element("div", { class: "budget" }, ...bars, note);
}

/**
 * What is left is solid from the left, the rest is hatched: it can be read without colours. The numbers
 * are decimal texts; as floating-point numbers they only place the edge of the bar.
 */
function bar({ label, spent, remaining, limit }) {
  const share = Number(limit) > 0 ? Math.min(1, Math.max(0, Number(remaining) / Number(limit))) : 0;
  const text = spent === undefined
    ? `${remaining} left of ${limit} for you`
    : `${remaining} left of ${limit}, ${spent} spent`;
  const drawing = shape("svg", { class: "bar", viewBox: "0 0 100 8", preserveAspectRatio: "none", "aria-hidden": "true" },
    shape("path", { class: "spent", d: HATCHING }),
    shape("rect", { class: "left", width: 100 * share, height: 8 }));
  return element("div", { class: "budget-bar" },
    element("div", { class: "budget-text" }, element("span", {}, label), element("span", {}, text)),
    drawing);
}
