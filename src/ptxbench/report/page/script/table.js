// Sortable tables whose rows open something. On a narrow screen every row is a card, with its columns' names in it.

/**
 * Returns a table. Columns: `name` (in the address), `label`, `value(row)` to sort by, `cell(row)` to show, `number`, `kind` (a class), and `metric`
 * (whose line of what it does not establish stands under the label). `open(row)` is the address that a row leads to; `told`: the
 * metrics whose line stands in a table before this one; `key` tells the tables of a view apart.
 */
function table({ caption, columns, rows, open, sort, told = new Set(), key = "" }) {
  const order = ordering(columns, sort);
  const sorted = order.column ? [...rows].sort(comparing(order)) : rows;
  const news = columns.filter((one) => one.metric && !told.has(one.metric));
  const head = columns.map((one) => header(one, order, news, key));
  for (const one of news) told.add(one.metric);
  const body = sorted.map((row) => {
    const to = open?.(row);
    const cells = columns.map((one, place) => {
      const shown = one.cell(row);
      if (place === 0) return el("th", { scope: "row" }, to ? el("a", { href: to, class: "row" }, shown) : shown);
      return el("td", { class: one.number ? "number" : one.kind, "data-label": one.label }, el("span", {}, shown));
    });
    return el("tr", { class: to && "opens", onclick: (event) => to && !event.target.closest("a, button, input, label") && !selecting() && go(to) }, cells);
  });
  const top = el("thead", {}, el("tr", {}, head));
  const whole = el("table", { class: "cards", "aria-label": caption }, top, el("tbody", {}, body));
  return [sortSelect(columns, order), el("div", { class: "scroll" }, whole), noteList(news)];
}

const selecting = () => String(getSelection()) !== "";

function ordering(columns, fallback) {
  const name = route.query.get("sort") ?? fallback ?? null;
  const column = columns.find((one) => one.name === name?.replace(/^-/, "")) ?? null;
  return { column, down: Boolean(name?.startsWith("-")) };
}

/** Unknown values stand last, whatever the order. */
function comparing({ column, down }) {
  return (a, b) => {
    const [x, y] = [column.value(a), column.value(b)];
    if (!known(x) || !known(y)) return Number(!known(x)) - Number(!known(y));
    const order = typeof x === "number" ? x - y : String(x).localeCompare(String(y), "en", { numeric: true });
    return down ? -order : order;
  };
}

function header(one, order, news, key) {
  const sorted = order.column === one;
  const next = sorted ? (order.down ? one.name : `-${one.name}`) : one.number ? `-${one.name}` : one.name;
  const arrow = sorted ? (order.down ? " ↓" : " ↑") : "";
  const attributes = {
    scope: "col", class: one.number && "number", "aria-sort": sorted ? (order.down ? "descending" : "ascending") : null,
    title: one.metric && `${data.metrics[one.metric].label}: ${data.metrics[one.metric].formula}`,
  };
  const label = one.value
    ? el("button", { type: "button", id: `sort-${key}${one.name}`, onclick: () => adjust({ sort: next }) }, one.label, arrow)
    : one.label;
  return el("th", attributes, label, news.includes(one) && notOf(one.metric));
}

function sortSelect(columns, order) {
  const options = [el("option", { value: "" }, "as listed")];
  for (const one of columns.filter((each) => each.value)) {
    for (const [prefix, word] of [["", "rising"], ["-", "falling"]]) {
      const value = prefix + one.name;
      options.push(el("option", { value, selected: order.column === one && order.down === (prefix === "-") }, `${one.label}, ${word}`));
    }
  }
  return el("label", { class: "sorts small" }, "Order ", el("select", { onchange: (event) => adjust({ sort: event.target.value }) }, options));
}

/** Returns the line that says what a figure does not establish. */
function notOf(metric) {
  return el("span", { class: "not" }, `not established: ${data.metrics[metric].not}`);
}

/** Cards have no header; what the figures do not say stands below them. */
function noteList(columns) {
  const lines = columns.map((one) => el("li", {}, `${one.label}: not established: ${data.metrics[one.metric].not}`));
  return lines.length ? el("ul", { class: "legendnotes small quiet" }, lines) : null;
}
