// A cell: one model on one task in one run. Its figures with their limits, curves, outcomes by turn, and its trajectories.

const FIGURES = [
  ["turn_correctness", rate], ["target_turn_correctness", targetRate], ["best_speedup", speed], ["target_best_speedup", speed],
  ["median_speedup", speed], ["target_median_speedup", speed], ["trajectories_with_success", count], ["target_trajectories_with_success", count],
];

function cellView(cell) {
  const variant = chosenVariant();
  const figures = figuresOf(cell, variant);
  const run = runNamed(cell.key.run);
  return [
    el("h1", {}, `${cell.key.model} on ${cell.key.task}`),
    el("p", { class: "heading" }, el("strong", {}, `baseline ${cell.baseline ?? "not measured"}`), ` · ${cell.key.arch} on ${cell.device_name ?? cell.key.device ?? "no device"}`),
    el("p", { class: "quiet" }, `${count(figures.n)} of ${count(figures.n_planned)} turns in ${figures.trajectories} trajectories${variant ? `, variant ${variant} alone` : ""}`),
    cell.variants.length > 1 && el("div", { class: "step" }, "Variant ",
      choice("Variant", [["", "all"], ...cell.variants.map((name) => [name, name])], variant ?? "", (name) => adjust({ variant: name }))),
    figureList(cell, figures),
    publishedPart(cell),
    curves([cell]),
    el("section", {}, el("h2", {}, "Outcomes by turn"), el("p", { class: "small" }, notOf("outcomes")), outcomesByTurn(figures.outcomes_by_turn)),
    el("section", {}, el("h2", {}, "Trajectories"), table(trajectoryTable(cell, variant))),
    el("section", {}, el("h2", {}, "What makes it comparable"), cellFacts(cell), inspectNote(run)),
  ];
}

function figureList(cell, figures) {
  const last = figures.at[data.limits.at(-1)];
  const shown = FIGURES.filter(([name]) => cell.target || !name.startsWith("target_")).map(([name, text]) => {
    const values = data.limits.map((k) => text(figures.at[k][name], figures.at[k])).join(" / ");
    const bounds = interval(last.ci95?.[name]);
    const unproven = name.startsWith("target_") && last.unknown_proofs > 0 && `${count(last.unknown_proofs)} turns unproven`;
    return figure(name, values, [`first ${data.limits.join(" / ")} turns`, bounds, unproven].filter(Boolean).join("; "));
  });
  if (cell.target) shown.push(figure("unknown_proofs", count(last.unknown_proofs), null));
  shown.push(figure("tokens", `${count(figures.tokens.input)} in, ${count(figures.tokens.output)} out`, known(figures.tokens.reasoning) ? `${count(figures.tokens.reasoning)} of them reasoning` : null));
  shown.push(figure("cost_usd", money(figures.cost_usd), null), figure("gpu_seconds", seconds(figures.gpu_seconds), null));
  return el("ul", { class: "figures" }, shown);
}

function figure(name, value, below) {
  const told = data.metrics[name];
  return el("li", { title: told.formula }, el("div", { class: "small" }, told.label), el("div", { class: "value" }, value), below && el("div", { class: "small quiet" }, below), notOf(name));
}

/** What others published of the same workload: beside one's own figures, and in none of them. */
function publishedPart(cell) {
  const lines = data.published[`${cell.key.arch}/${cell.key.task}/${cell.key.language}`] ?? [];
  if (!lines.length) return null;
  const figures = ["turn_correctness", "best_speedup"];
  const rows = lines.map((one) => [
    [soft(one.model ?? ABSENT), one.arm && ` (${one.arm})`], data.metrics[one.figure].short, one.figure === "best_speedup" ? speed(one.value) : percent(one.value),
    [one.source, one.note && `; ${one.note}`],
  ]).sort((a, b) => figures.indexOf(a[1]) - figures.indexOf(b[1]));
  return el("details", { id: "published" }, el("summary", {}, `Published figures on this workload: ${rows.length}, ${apart(cell, lines)}`),
    plainTable("Published", ["model", "figure", "published", "source"], rows, [2]));
}

/** Says what keeps published figures from being compared with a cell's. */
function apart(cell, lines) {
  const theirs = lines.find((one) => one.baseline) ?? lines[0];
  const unlike = [
    theirs.device !== cell.key.device && `device ${theirs.device}`,
    theirs.profile !== cell.key.protocol && `profile ${theirs.profile}`,
    theirs.baseline && theirs.baseline !== cell.baseline && `baseline ${theirs.baseline}`,
  ].filter(Boolean);
  return unlike.length ? `not comparable with these (${unlike.join(", ")})` : "of the same device, profile and baseline";
}

function trajectoryTable(cell, variant) {
  const rows = cell.trajectories.filter((one) => !variant || one.variant === variant);
  const best = (one, qualifiedOnly) => {
    const turn = bestTurn(cell, one, qualifiedOnly);
    return turn && trusted(turn);
  };
  const columns = [
    { name: "trajectory", label: "trajectory", value: (one) => one.name, cell: (one) => one.name },
    { name: "best", label: "best speedup", number: true, value: (one) => best(one, false), cell: (one) => speed(best(one, false)) },
    cell.target && { name: "target", label: "with target instructions", number: true, value: (one) => best(one, true), cell: (one) => speed(best(one, true)) },
    { name: "correct", label: "correct turns", number: true, value: (one) => one.turns.filter(isCorrect).length, cell: (one) => `${one.turns.filter(isCorrect).length} of ${one.turns.length}` },
    { name: "turns", kind: "whole", label: "turns", cell: (one) => turnStrip(cell, one, null) },
  ].filter(Boolean);
  return { caption: "Trajectories", columns, rows, open: (one) => address(["cell", cell.id, one.name]) };
}

function cellFacts(cell) {
  const key = Object.entries(cell.key).map(([name, value]) => [name, name === "run" ? el("a", { href: address(["run", value]) }, value) : value]);
  return facts([...key, ...Object.entries(cell.settings)]);
}
