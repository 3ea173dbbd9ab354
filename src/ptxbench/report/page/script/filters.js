// Filters: which cells are shown, and over which prompt variant. They stand in the address.

const FILTERS = ["arch", "task", "model", "variant", "language", "text"];
const CHOICES = [["arch", "Architecture"], ["task", "Task"], ["model", "Model"], ["variant", "Variant"], ["language", "Language"]];

function valuesOf(cell, name) {
  return name === "variant" ? cell.variants : [cell.key[name]];
}

function fits(cell, without = null) {
  for (const [name] of CHOICES) {
    const wanted = route.query.get(name);
    if (name !== without && wanted && !valuesOf(cell, name).includes(wanted)) return false;
  }
  const text = (route.query.get("text") ?? "").toLowerCase();
  return !text || Object.values(cell.key).some((value) => value && value.toLowerCase().includes(text));
}

const shownCells = () => data.cells.filter((cell) => fits(cell));
const chosenVariant = () => route.query.get("variant");

/** Returns the bar of filters. Each offers what the others leave. */
function filterBar() {
  const selects = CHOICES.map(([name, label]) => {
    const chosen = route.query.get(name) ?? "";
    const left = data.cells.filter((cell) => fits(cell, name)).flatMap((cell) => valuesOf(cell, name));
    const values = [...new Set(chosen ? [...left, chosen] : left)].filter(known).sort();
    if (values.length < 2 && !chosen) return null;
    const options = ["", ...values].map((value) => el("option", { value, selected: value === chosen }, value || "all"));
    return el("label", {}, label, el("select", { id: `filter-${name}`, onchange: (event) => adjust({ [name]: event.target.value }) }, options));
  });
  const text = el("input", {
    id: "filter-text", type: "search", placeholder: "any part of a name", value: route.query.get("text") ?? "",
    oninput: (event) => adjust({ text: event.target.value }),
  });
  const active = FILTERS.some((name) => route.query.has(name));
  const clear = active && el("button", {
    type: "button", id: "filter-clear", onclick: () => adjust(Object.fromEntries(FILTERS.map((name) => [name, null]))),
  }, "Clear");
  const form = { class: "filters", role: "search", onsubmit: (event) => event.preventDefault() };
  return el("form", form, selects, el("label", {}, el("span", {}, "Filter ", el("kbd", {}, "/")), text), clear);
}

/** Returns the choice of the turn limit that all figures in tables go by. */
function limitChoice() {
  const options = data.limits.map((k) => [String(k), `first ${k}`]);
  return choice("Turns that count", options, limit(), (k) => adjust({ k }));
}

const limit = () => (data.limits.map(String).includes(route.query.get("k")) ? route.query.get("k") : String(data.limits.at(-1)));
