// Nodes. Whatever comes from the data goes in as a text node or an attribute's value: there is no way to make markup of it here.

const SVG = "http://www.w3.org/2000/svg";

/** Returns an element. `attributes`: `class`, `data-…`, `on…` listeners; null and false leave one out. */
function el(tag, attributes, ...children) {
  return dressed(document.createElement(tag), attributes, children);
}

function svg(tag, attributes, ...children) {
  return dressed(document.createElementNS(SVG, tag), attributes, children);
}

function dressed(node, attributes, children) {
  for (const [name, value] of Object.entries(attributes ?? {})) {
    if (value === null || value === undefined || value === false) continue;
    if (name.startsWith("on")) node.addEventListener(name.slice(2), value);
    else node.setAttribute(name, value === true ? "" : String(value));
  }
  append(node, children);
  return node;
}

function append(node, children) {
  for (const child of children.flat(Infinity)) {
    if (child === null || child === undefined || child === false) continue;
    node.append(child instanceof Node ? child : document.createTextNode(String(child)));
  }
}

function replace(node, ...children) {
  node.replaceChildren();
  append(node, children);
}

/** Returns a name with places where it may be broken: behind its own separators. */
function soft(name) {
  return name.split(/(?<=[/_.:@-])/).map((part, place) => (place ? [el("wbr"), part] : part));
}

/** Returns a list of terms and texts; pairs without a text are left out. */
function facts(pairs) {
  const shown = pairs.filter(([, text]) => text !== null && text !== undefined && text !== "");
  return el("dl", { class: "facts" }, shown.map(([name, text]) => [el("dt", {}, name), el("dd", {}, text)]));
}

/** Returns buttons of which one is pressed. `options`: [value, label]. */
function choice(label, options, chosen, choose) {
  const buttons = options.map(([value, text]) =>
    el("button", { type: "button", "aria-pressed": String(value === chosen), onclick: () => choose(value) }, text));
  return el("span", { class: "choice", role: "group", "aria-label": label }, buttons);
}
