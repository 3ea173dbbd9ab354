// Fast_p curves: steps that fall at speedups, the band of prompt variants, a mark at each best speedup, and a cursor that reads values.

const MOST_CURVES = 8;
const DASHES = ["", "7 3", "2 3", "9 3 2 3", "12 4", "4 4", "1 3", "8 2 2 2 2 2"];
const hiddenCurves = new Set();
let cursorAt = 1;

/** Returns a step curve's value at p: it holds from its threshold (inclusive) to the next one's. */
function curveAt(curve, name, p) {
  let place = -1;
  while (place + 1 < curve.p.length && curve.p[place + 1] <= p) place += 1;
  return place < 0 ? null : curve[name][place];
}

/** Returns the chart of some cells' curves. `kind`: fast_p or fast_p_inst. */
function curveChart(cells, kind) {
  const variant = chosenVariant();
  const all = cells.map((cell) => ({ cell, figures: figuresOf(cell, variant) })).filter(({ figures }) => figures[kind]);
  all.sort((a, b) => (bestOf(b, kind) ?? -1) - (bestOf(a, kind) ?? -1));
  const lines = all.slice(0, MOST_CURVES).map((line, place) => ({
    ...line, id: line.cell.id, curve: line.figures[kind], colour: `var(--line-${place + 1})`, dash: DASHES[place], label: cellLabel(line.cell), best: bestOf(line, kind), unknown: line.figures.could_raise[kind],
  }));
  if (!lines.length) return el("p", { class: "quiet" }, "Nothing here was decided, so there is no curve.");
  const holder = el("div", { class: "chart" });
  const readout = el("ul", { class: "readout" });
  const drawn = () => drawCurves(holder, readout, lines, drawn);
  drawn();
  const more = all.length - lines.length;
  const watch = new ResizeObserver(() => holder.isConnected ? drawn() : watch.disconnect());
  watch.observe(holder);
  return [holder, readout, more > 0 && el("p", { class: "quiet small" }, `The ${MOST_CURVES} with the best speedups; ${more} more are left out. Filters choose others.`)];
}

function bestOf({ figures }, kind) {
  const at = figures.at[String(data.limits.at(-1))];
  return kind === "fast_p" ? at.best_speedup : at.target_best_speedup;
}

function cellLabel(cell) {
  const parts = [cell.key.model, cell.key.task, cell.key.arm, cell.key.language, cell.key.arch];
  const several = data.runs.length > 1 ? [cell.key.run] : [];
  return [...parts, ...several].filter(Boolean).join(" · ");
}

function drawCurves(holder, readout, lines, again) {
  const width = Math.max(280, Math.round(holder.clientWidth || 640));
  const height = width < 500 ? 240 : 320;
  const [left, right, top, bottom] = [44, 12, 12, 36];
  const most = Math.max(1.05, ...lines.map((line) => 1.06 * Math.max(line.best ?? 0, line.curve.p.at(-1))));
  const x = (p) => left + (p / most) * (width - left - right);
  const y = (value) => top + (1 - value) * (height - top - bottom);
  const shown = lines.filter((line) => !hiddenCurves.has(line.id));
  const drawing = svg("svg", {
    viewBox: `0 0 ${width} ${height}`, tabindex: 0, role: "slider", id: "curves", "aria-label": "Threshold p of the curves",
    "aria-valuemin": 0, "aria-valuemax": most.toFixed(3), "aria-valuenow": cursorAt.toFixed(3), "aria-valuetext": `p = ${cursorAt.toFixed(3)}`,
  });
  axes(drawing, { width, height, left, right, top, bottom, most, x, y });
  for (const line of shown) {
    if (line.curve.min) drawing.append(svg("path", { d: band(line.curve, most, x, y), fill: line.colour, "fill-opacity": 0.14 }));
  }
  for (const line of shown) {
    const attributes = { d: steps(line.curve, most, x, y), fill: "none", stroke: line.colour, "stroke-width": 2, "stroke-dasharray": line.dash };
    drawing.append(svg("path", attributes));
    if (known(line.best)) drawing.append(svg("path", { d: diamond(x(line.best), y(0)), fill: line.colour }));
  }
  const cursor = svg("line", { class: "cursor", y1: top, y2: height - bottom });
  drawing.append(cursor);
  const move = (p) => {
    cursorAt = Math.min(most, Math.max(0, p));
    cursor.setAttribute("x1", x(cursorAt));
    cursor.setAttribute("x2", x(cursorAt));
    drawing.setAttribute("aria-valuenow", cursorAt.toFixed(3));
    drawing.setAttribute("aria-valuetext", [`p = ${cursorAt.toFixed(3)}`, ...shown.map((line) => `${line.label} ${atLeast(curveAt(line.curve, "mean", cursorAt), line.unknown)}`)].join(", "));
    replace(readout, readings(lines, again));
  };
  drawing.addEventListener("pointermove", (event) => {
    const box = drawing.getBoundingClientRect();
    move((((event.clientX - box.left) / box.width) * width - left) / (width - left - right) * most);
  });
  drawing.addEventListener("keydown", (event) => {
    const step = { ArrowLeft: -1, ArrowRight: 1, PageDown: -10, PageUp: 10 }[event.key];
    if (step === undefined) return;
    event.preventDefault();
    event.stopPropagation();
    move(cursorAt + (step * most) / 100);
  });
  const focused = document.activeElement?.id === "curves";
  replace(holder, drawing);
  move(cursorAt);
  if (focused) drawing.focus();
}

function axes(drawing, { width, height, left, right, top, bottom, most, x, y }) {
  for (const share of [0, 0.25, 0.5, 0.75, 1]) {
    drawing.append(svg("line", { class: share ? "grid" : "axis", x1: left, x2: width - right, y1: y(share), y2: y(share) }));
    drawing.append(svg("text", { x: left - 6, y: y(share) + 4, "text-anchor": "end" }, `${100 * share} %`));
  }
  const step = [0.1, 0.25, 0.5, 1, 2, 5, 10, 25, 50, 100].find((size) => most / size <= 8) ?? most;
  for (let p = 0; p <= most; p += step) drawing.append(svg("text", { x: x(p), y: height - bottom + 16, "text-anchor": "middle" }, Number(p.toFixed(2))));
  drawing.append(svg("line", { class: "even", x1: x(1), x2: x(1), y1: top, y2: height - bottom }));
  drawing.append(svg("text", { x: width - right, y: height - 3, "text-anchor": "end" }, "p: times the reference's speed (dotted: as fast)"));
}

function steps(curve, most, x, y, name = "mean") {
  let path = "";
  curve.p.forEach((p, place) => {
    const value = y(curve[name][place]).toFixed(1);
    path += place ? `H${x(p).toFixed(1)}V${value}` : `M${x(p).toFixed(1)} ${value}`;
  });
  return `${path}H${x(most).toFixed(1)}`;
}

function band(curve, most, x, y) {
  const places = [...curve.p.keys()].reverse();
  let back = "";
  for (const place of places) {
    const value = y(curve.min[place]).toFixed(1);
    back += `V${value}H${x(curve.p[place]).toFixed(1)}`;
  }
  return `${steps(curve, most, x, y, "max")}${back}Z`;
}

const diamond = (x, y) => `M${x} ${y - 6}l5 6l-5 6l-5 -6Z`;

function readings(lines, again) {
  const toggled = (line) => () => {
    if (!hiddenCurves.delete(line.id)) hiddenCurves.add(line.id);
    again();
    document.getElementById(`curve-${line.id}`)?.focus();
  };
  return [
    el("li", { class: "mono" }, `p = ${cursorAt.toFixed(3)}`),
    lines.map((line) => {
      const spread = line.curve.min ? ` (variants ${percent(curveAt(line.curve, "min", cursorAt))} to ${percent(curveAt(line.curve, "max", cursorAt))})` : "";
      const stroke = { x1: 0, x2: 24, y1: 5, y2: 5, stroke: line.colour, "stroke-width": 3, "stroke-dasharray": line.dash };
      const sample = svg("svg", { width: 24, height: 10, "aria-hidden": "true" }, svg("line", stroke));
      return el("li", {}, el("button", { type: "button", id: `curve-${line.id}`, "aria-pressed": String(!hiddenCurves.has(line.id)), onclick: toggled(line) },
        sample, el("span", {}, `${atLeast(curveAt(line.curve, "mean", cursorAt), line.unknown)}${spread} `, el("span", { class: "quiet" }, `${line.label}, best ${speed(line.best)}`))));
    }),
  ];
}
