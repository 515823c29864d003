// Elements from values. Text reaches the page only as text: a child is an element or a string, and a
// string becomes a text node. Nothing here reads markup, and the Content-Security-Policy of the server
// turns off whatever would.

const SVG = "http://www.w3.org/2000/svg";

/** An element. An attribute that is a function listens; `true` and `false` set and remove; null is left out. */
export function element(name, attributes = {}, ...children) {
  return filled(document.createElement(name), attributes, children);
}

/** An element of a drawing. */
export function shape(name, attributes = {}, ...children) {
  return filled(document.createElementNS(SVG, name), attributes, children);
}

function filled(node, attributes, children) {
  for (const [name, value] of Object.entries(attributes)) {
    if (typeof value === "function") node.addEventListener(name, value);
    else if (typeof value === "boolean") node.toggleAttribute(name, value);
    else if (value != null) node.setAttribute(name, value);
  }
  node.append(...children.flat().filter((child) => child != null));
  return node;
}

/** A new identifier for the `for` of a label. */
export function identifier() {
  identifier.last = (identifier.last ?? 0) + 1;
  return `field-${identifier.last}`;
}

/** A control under its label, with a hint that screen readers read after it. */
export function field(label, control, hint) {
  control.id ||= identifier();
  const parts = [element("label", { for: control.id }, label), control];
  if (hint) {
    const id = `${control.id}-hint`;
    control.setAttribute("aria-describedby", id);
    parts.push(element("small", { id }, hint));
  }
  return element("div", { class: "field" }, ...parts);
}

/** A list to choose from: pairs of value and text, or groups of them: `{ label, options }`. */
export function choice(options, attributes = {}) {
  const option = ([value, text]) => element("option", { value }, text);
  const entry = (each) => Array.isArray(each)
    ? option(each)
    : element("optgroup", { label: each.label }, each.options.map(option));
  return element("select", attributes, options.map(entry));
}

/** A button that does not submit its form. */
export function button(text, click, attributes = {}) {
  return element("button", { type: "button", click, ...attributes }, text);
}

/** Calls once things have been quiet for a while. */
export function debounced(milliseconds, call) {
  let timer;
  return () => {
    clearTimeout(timer);
    timer = setTimeout(call, milliseconds);
  };
}
