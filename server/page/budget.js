// A budget as bars: how much is spent, how much is left.

import { element, shape } from "./dom.js";
import { lossText, numbers } from "./words.js";

/** Strokes from top to bottom, over the whole width. */
const HATCHING = Array.from({ length: 50 }, (_, stroke) => `M${2 * stroke + 1} 0V8`).join("");

/** The bars of a dataset or a share: one for each number of its loss, and one for the quota. */
export function budgetView(view) {
  const bars = numbers(view.limit).map(({ name, symbol, text }) =>
    bar({
      label: `Budget, ${symbol}`,
      spent: view.spent[name],
      // Launches may be stated in another measure than the budget.
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
  const units = (loss) => numbers(loss).map(({ name }) => name).join();
  const other = units(view.limit) === units(view.remaining)
    ? null
    : element("p", { class: "quiet" }, `The largest launch that fits: ${lossText(view.remaining)}.`);
  const launched = view.launched === 1 ? "1 launch" : `${view.launched} launches`;
  const note = view.halted
    ? element("p", { class: "problem" }, "This budget was stopped for good: it answers no more.")
    : element("p", { class: "quiet" }, `${launched} so far.`);
  const rule = ruleText(view.rule);
  return element("div", { class: "budget" }, ...bars, other, rule, note);
}

/** How losses add up, where they are not simply added. */
function ruleText(rule) {
  if (rule === undefined || rule === "sum") return null;
  const [name, parameters] = typeof rule === "string" ? [rule, null] : Object.entries(rule)[0];
  const more = parameters === null ? "" : ` ${JSON.stringify(parameters)}`;
  return element("p", { class: "quiet" }, "Losses add up by the rule ", element("code", {}, `${name}${more}`), ".");
}

/**
 * What is left is solid from the left, the rest is hatched: it can be read without colours. The numbers
 * are decimal texts; as floating-point numbers they only place the edge of the bar.
 */
function bar({ label, spent, remaining, limit }) {
  const left = remaining ?? Number(limit) - Number(spent);
  const share = Number(limit) > 0 ? Math.min(1, Math.max(0, Number(left) / Number(limit))) : 0;
  const text = [
    remaining === undefined ? null : `${remaining} left of ${limit}${spent === undefined ? " for you" : ""}`,
    spent === undefined ? null : `${spent} spent${remaining === undefined ? ` of ${limit}` : ""}`,
  ].filter(Boolean).join(", ");
  const drawing = shape("svg", { class: "bar", viewBox: "0 0 100 8", preserveAspectRatio: "none", "aria-hidden": "true" },
    shape("path", { class: "spent", d: HATCHING }),
    shape("rect", { class: "left", width: 100 * share, height: 8 }));
  return element("div", { class: "budget-bar" },
    element("div", { class: "budget-text" }, element("span", {}, label), element("span", {}, text)),
    drawing);
}
