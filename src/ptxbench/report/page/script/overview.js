// All runs, or one of them: tables of comparable cells, and their curves.

function overview(runName) {
  const cells = shownCells().filter((cell) => !runName || cell.key.run === runName);
  const run = runName && runNamed(runName);
  if (runName && !run) return missing(`There is no run ${runName} here.`);
  const turns = cells.reduce((sum, cell) => sum + cell.figures.n, 0);
  const parts = [
    el("h1", {}, run ? run.run : data.runs.length === 1 ? data.runs[0].run : `${data.runs.length} runs`),
    el("p", { class: "quiet" }, `${count(turns)} turns in ${cells.length} of ${data.cells.length} cells · ${data.tool} · made ${data.made}`),
    run && runFacts(run),
    filterBar(),
    el("div", { class: "step" }, el("span", {}, "Figures over the turns"), limitChoice(), chosenVariant() && el("span", { class: "quiet" }, `of variant ${chosenVariant()} alone`)),
  ];
  if (!cells.length) parts.push(el("p", { class: "notice" }, "Nothing fits these filters."));
  else parts.push(groups(cells), curves(cells));
  if (!run && data.runs.length > 1) parts.push(runList());
  return parts;
}

function groups(cells) {
  const wanted = new Set(cells);
  const told = new Set();
  const sections = data.groups.map((group, place) => ({ ...group, cells: group.cells.map((place) => data.cells[place]).filter((cell) => wanted.has(cell)) }))
    .filter((group) => group.cells.length > 0)
    .map((group, place) => el("section", { class: "group" }, groupHeading(group), table({ ...cellTable(group.cells), told, key: `${place}-` }), group.notes.map((note) => el("p", { class: "quiet small" }, note))));
  return [sections, sections.length > 1 && data.apart && el("p", { class: "notice" }, data.apart)];
}

/** The baseline stands first: a speedup says nothing without what it is measured against. */
function groupHeading(group) {
  const at = group.heading.lastIndexOf("baseline ");
  const [before, baseline] = at < 0 ? [group.heading, "baseline not measured"] : [group.heading.slice(0, at), group.heading.slice(at)];
  return el("p", { class: "heading" }, el("strong", {}, baseline), ` · ${before.replace(/ · $/, "")}`);
}

function cellTable(cells) {
  const variant = chosenVariant();
  const k = limit();
  const several = new Set(cells.map((cell) => cell.key.run)).size > 1;
  const workloads = new Set(cells.map((cell) => `${cell.key.task}@${cell.key.workload}`)).size > new Set(cells.map((cell) => cell.key.task)).size;
  const at = (cell) => figuresOf(cell, variant).at[k];
  const rateColumn = (name) => ({
    name, metric: name, number: true, label: data.metrics[name].short, value: (cell) => at(cell)[name],
    cell: (cell) => [(name.startsWith("target_") ? targetRate : rate)(at(cell)[name], at(cell)), subline(interval(at(cell).ci95?.[name])), name.startsWith("target_") && unproven(at(cell))],
  });
  const speedColumn = (name) => ({
    name, metric: name, number: true, label: data.metrics[name].short, value: (cell) => at(cell)[name], cell: (cell) => speed(at(cell)[name]),
  });
  const target = cells.some((cell) => cell.target);
  const columns = [
    {
      name: "model", label: "model", value: (cell) => cell.key.model,
      cell: (cell) => [soft(cell.key.model), several && el("span", { class: "sub" }, soft(cell.key.run))],
    },
    {
      name: "task", kind: "name", label: "task", value: (cell) => cell.key.task,
      cell: (cell) => [soft(cell.key.task), workloads && el("span", { class: "sub" }, cell.key.workload)],
    },
    {
      name: "n", label: "N", number: true, value: (cell) => at(cell).turns,
      cell: (cell) => [count(at(cell).turns), !cell.complete && el("span", { class: "sub" }, `of ${count(figuresOf(cell, variant).n_planned)} planned`)],
    },
    target && rateColumn("target_turn_correctness"), rateColumn("turn_correctness"),
    target && speedColumn("target_best_speedup"), speedColumn("best_speedup"),
    speedColumn("median_speedup"),
    {
      name: "trajectories_with_success", metric: "trajectories_with_success", number: true, label: data.metrics.trajectories_with_success.short,
      value: (cell) => at(cell).trajectories_with_success,
      cell: (cell) => `${at(cell).trajectories_with_success} of ${figuresOf(cell, variant).trajectories}`,
    },
  ].filter(Boolean);
  return { caption: "Results", columns, rows: cells, open: (cell) => address(["cell", cell.id]) };
}

const subline = (text) => text && el("span", { class: "sub" }, text);

/** A rate of proven turns is a lower bound where proofs are unknown: how many stands beside it. */
const unproven = (at) => at.unknown_proofs > 0 && subline(`+ ${count(at.unknown_proofs)} unproven`);

function curves(cells) {
  const names = [...new Set(cells.map((cell) => cell.baseline))];
  const baselines = names.length > 1 ? `baselines ${names.map((name) => name ?? "not measured").join(" and ")}` : `baseline ${names[0] ?? "not measured"}`;
  const targets = cells.some((cell) => cell.target);
  const kind = targets && route.query.get("curve") === "inst" ? "fast_p_inst" : "fast_p";
  return el("section", {},
    el("h2", {}, `${data.metrics[kind].label}, ${baselines}`),
    targets && choice("Which turns count", [["all", "Fast_p"], ["inst", "target instructions"]], kind === "fast_p" ? "all" : "inst", (value) => adjust({ curve: value === "inst" ? "inst" : null })),
    el("p", { class: "small quiet" }, el("code", {}, data.metrics[kind].formula), "; mean over prompt variants, the band from the lowest variant to the highest. ", notOf(kind)),
    curveChart(cells, kind));
}

function runList() {
  const columns = [
    { name: "run", label: "run", value: (run) => run.run, cell: (run) => run.run },
    { name: "run-model", label: "model", value: (run) => run.model, cell: (run) => run.model },
    { name: "created", label: "created", value: (run) => run.created, cell: (run) => run.created },
    { name: "code", label: "ptxbench", value: (run) => run.code, cell: (run) => run.imported ?? run.code },
  ];
  const shown = table({ caption: "Runs", columns, rows: data.runs, open: (run) => address(["run", run.run]) });
  return el("section", {}, el("h2", {}, "Runs"), shown);
}

function runFacts(run) {
  return [
    facts([
      ["model", run.model], ["served as", run.served_models.join(", ")], ["created", run.created], ["made with", run.imported ?? `ptxbench ${run.code}`],
      ["Python", run.imported ? null : `${run.python} on ${run.platform}`], ["devices", run.devices.join(", ")],
      ["toolchain", Object.entries(run.toolchains).map(([arch, digest]) => `${arch} ${digest}`).join(", ")],
    ]),
    run.accepted.map((line) => el("p", { class: "notice" }, line)),
    inspectNote(run),
  ];
}

/** Inspect's own viewer shows transcripts better than this page: it is linked where it runs, and named where it can be started. */
function inspectNote(run) {
  if (!run.inspect) return null;
  const words = run.viewer ? el("a", { href: run.viewer, rel: "noopener" }, "Transcripts in Inspect's viewer") : ["Transcripts: ", el("code", {}, `inspect view --log-dir ${run.folder}/inspect/logs`)];
  return el("p", {}, words);
}

function missing(text) {
  return [el("h1", {}, "Not here"), el("p", { class: "notice" }, text), el("p", {}, el("a", { href: "#/" }, "All results"))];
}
