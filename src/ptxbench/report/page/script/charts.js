// Small drawings: shares of outcomes as bars, latency samples as points.

const OUTCOME_CLASS = {
  correct: "correct", wrong_value: "wrong", wrong_shape: "wrong", wrong_dtype: "wrong", timeout: "time", sanitize_timeout: "time",
  profiling_service_timeout: "time", tampered: "cheat", policy_violation: "cheat", no_code: "nothing", not_reached: "nothing", undecided: "open",
};
const KINDS = [
  ["correct", "correct"], ["wrong", "wrong outputs"], ["error", "compile, load or run error"], ["time", "timeout"],
  ["cheat", "policy or tampering"], ["nothing", "no code, or not reached"], ["open", "undecided"],
];
const kindOf = (outcome) => OUTCOME_CLASS[outcome] ?? "error";
const named = (outcome) => outcome.replaceAll("_", " ");

/** Returns one bar: the shares of outcomes, by kind. */
function outcomeBar(counted, total) {
  const text = Object.entries(counted).map(([name, n]) => `${n} ${named(name)}`).join(", ");
  const bar = svg("svg", { class: "bar", viewBox: "0 0 1000 16", preserveAspectRatio: "none", role: "img", "aria-label": text });
  let from = 0;
  for (const [kind] of KINDS) {
    const share = Object.entries(counted).reduce((sum, [name, n]) => sum + (kindOf(name) === kind ? n : 0), 0) / total;
    if (share > 0) bar.append(svg("rect", { class: `o-${kind}`, x: from * 1000, y: 1, width: Math.max(share * 1000 - 3, 2), height: 14 }));
    from += share;
  }
  return bar;
}

function outcomeSwatches(kinds) {
  const items = KINDS.filter(([kind]) => kinds.has(kind)).map(([kind, label]) =>
    el("li", {}, svg("svg", { width: 12, height: 12, "aria-hidden": "true" }, svg("rect", { class: `o-${kind}`, width: 12, height: 12 })), label));
  return el("ul", { class: "swatches" }, items);
}

/** Returns the outcomes of a cell turn by turn: a bar, and the counts in words. */
function outcomesByTurn(byTurn) {
  const kinds = new Set(Object.values(byTurn).flatMap((counted) => Object.keys(counted).map(kindOf)));
  const rows = Object.entries(byTurn).map(([turn, counted]) => {
    const total = Object.values(counted).reduce((a, b) => a + b, 0);
    const words = Object.entries(counted).sort((a, b) => b[1] - a[1]).map(([name, n]) => `${n} ${named(name)}`).join(", ");
    return el("tr", {}, el("th", { scope: "row" }, `turn ${turn}`), el("td", {}, outcomeBar(counted, total)), el("td", { class: "wide quiet" }, words));
  });
  const columns = el("colgroup", {}, el("col", { width: "70" }), el("col", {}), el("col", { class: "wide", width: "45%" }));
  return [outcomeSwatches(kinds), el("table", { class: "bars" }, columns, el("tbody", {}, rows))];
}

/** Returns samples of candidate and reference on one scale, with their medians. */
function samplePlot(series) {
  const shown = series.filter((one) => one.samples.values.length > 0);
  if (!shown.length) return null;
  const all = shown.flatMap((one) => one.samples.values);
  const [least, most] = [Math.min(...all), Math.max(...all)];
  const margin = (most - least || most || 1) * 0.05;
  const [low, high] = [least - margin, most + margin];
  const [width, left, rowHeight] = [640, 8, 58];
  const x = (value) => left + ((value - low) / (high - low)) * (width - 2 * left);
  const height = shown.length * rowHeight + 22;
  const plot = svg("svg", { viewBox: `0 0 ${width} ${height}`, role: "img", "aria-label": shown.map(inWords).join("; ") });
  shown.forEach((one, place) => {
    const middle = place * rowHeight + 34;
    plot.append(svg("text", { x: left, y: middle - 18 }, inWords(one)));
    plot.append(svg("line", { class: "grid", x1: left, x2: width - left, y1: middle, y2: middle }));
    one.samples.values.forEach((value, i) =>
      plot.append(svg("circle", { cx: x(value).toFixed(1), cy: middle + ((i * 7) % 17) - 8, r: 2.2, fill: `var(--line-${one.colour})`, "fill-opacity": 0.65 })));
    const half = x(median(one.samples.values)).toFixed(1);
    plot.append(svg("line", { x1: half, x2: half, y1: middle - 13, y2: middle + 13, stroke: "var(--ink)", "stroke-width": 2 }));
  });
  plot.append(svg("text", { x: left, y: height - 6 }, micros(low + margin)), svg("text", { x: width - left, y: height - 6, "text-anchor": "end" }, micros(high - margin)));
  return el("div", { class: "chart samples" }, plot);
}

function inWords({ label, samples }) {
  const part = samples.all > samples.values.length ? `, ${samples.values.length} of them drawn` : "";
  return `${label}: ${samples.all} samples${part}, median ${micros(median(samples.values))}`;
}

function median(values) {
  const sorted = [...values].sort((a, b) => a - b);
  const middle = sorted.length >> 1;
  return sorted.length % 2 ? sorted[middle] : (sorted[middle - 1] + sorted[middle]) / 2;
}
