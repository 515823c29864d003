// A problem, explained: what the server said, the numbers of a refusal, and what helps.

import { element } from "./dom.js";
import { advice } from "./words.js";

const NUMBERS = [
  ["requested", "This needs"],
  ["remaining", "Left"],
  ["spent", "Spent"],
  ["limit", "Limit"],
];

/** What the server said; or that something else went wrong. */
export function problemOf(error) {
  return error.problem ?? { code: "unknown", title: String(error.message ?? error) };
}

/** `text` is what the analyst wrote: the place of an error is shown in it. */
export function problemView(error, text) {
  const problem = problemOf(error);
  const parts = [
    element("p", {}, element("strong", {}, problem.detail ?? problem.title ?? problem.code), " ", element("code", {}, problem.code)),
  ];
  if (problem.place && typeof text === "string") parts.push(pointer(text, problem.place));
  if (problem.refused) {
    const entries = NUMBERS.filter(([name]) => problem.refused[name] !== undefined);
    parts.push(element("dl", { class: "numbers" }, entries.map(([name, label]) =>
      element("div", {}, element("dt", {}, label), element("dd", {}, problem.refused[name])))));
  }
  if (problem.detail && problem.title) parts.push(element("p", {}, problem.title));
  const help = advice(problem.code);
  if (help) parts.push(element("p", {}, help));
  return element("div", { class: "problem", role: "alert" }, ...parts);
}

/** The same where nothing was asked for: while somebody types, and in the history, nobody is interrupted. */
export function quietProblemView(error, text) {
  const view = problemView(error, text);
  view.removeAttribute("role");
  return view;
}

/** The text, with a mark under the character that is wrong. Characters are counted as the server does. */
function pointer(text, place) {
  const before = " ".repeat(Math.max(0, place - 1));
  return element("pre", { "aria-hidden": "true" }, `${text}\n${before}↑`);
}
