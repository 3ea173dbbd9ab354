// A turn: what became of it, the source or what changed in it, the feedback, and everything that the evaluation found.

function turnView(cell, trajectory, turn) {
  const number = of(turn, "turn");
  const place = trajectory.turns.indexOf(turn);
  const body = el("div", { id: "turn" }, el("p", { class: "quiet" }, "Unpacking …"));
  const step = (one, words) => (one ? el("a", { href: address(["cell", cell.id, trajectory.name, of(one, "turn")], viewQuery()) }, words) : el("span", { class: "quiet" }, words));
  fill(body, cell, trajectory, turn);
  return [
    el("h1", {}, `Turn ${number}: `, outcomeText(cell, turn)),
    el("p", { class: "heading" }, el("strong", {}, `baseline ${cell.baseline ?? "not measured"}`), ` · ${cell.key.model} · ${cell.key.task} · ${cell.key.arch} · trajectory ${trajectory.name}`),
    el("p", { class: "step" }, step(trajectory.turns[place - 1], "← turn before"), step(trajectory.turns[place + 1], "next turn →")),
    turnStrip(cell, trajectory, number),
    body,
  ];
}

const viewQuery = () => ({ show: route.query.get("show") });

async function fill(body, cell, trajectory, turn) {
  const number = of(turn, "turn");
  try {
    const held = await details(cell, trajectory);
    const found = held?.turns.find((one) => one.turn === number);
    replace(body, found ? detailViews(cell, trajectory, turn, held, found) : [shortFacts(turn), elsewhere(cell, trajectory, number)]);
  } catch (error) {
    if (!(error instanceof Error)) throw error;
    replace(body, shortFacts(turn), el("p", { class: "notice bad" }, `The details of this turn cannot be read: ${error.message}`));
  }
}

/** Says where the rest of a turn is that this file does not hold. */
function elsewhere(cell, trajectory, number) {
  const page = data.links?.[cell.key.run];
  const words = trajectory.details ? `This file holds the details of turns ${trajectory.held.join(" and ")} of this trajectory: the best and the last.` : "Nothing is stored of this turn.";
  return el("p", { class: "notice", id: "elsewhere" }, words, " ",
    page ? el("a", { href: `${page}#/cell/${cell.id}/${encodeURIComponent(trajectory.name)}/${number}` }, "This turn is in the run's own page")
      : trajectory.details && ["For the others: ", el("code", {}, "ptxbench report … --html FILE --sidecar FOLDER"), ", or ", el("code", {}, "ptxbench view DIR"), "."]);
}

function shortFacts(turn) {
  return facts([
    ["speedup", speed(of(turn, "speedup"))], ["target instructions", named(proofOf(turn) ?? "not looked at")],
    ["tokens", `${count(of(turn, "input_tokens"))} in, ${count(of(turn, "output_tokens"))} out`], ["cost", money(of(turn, "cost_usd"))],
    ["model", seconds(of(turn, "model_s"))], ["compiled and judged", seconds(of(turn, "judge_s"))],
  ]);
}

function detailViews(cell, trajectory, turn, held, found) {
  return [
    found.lost.map((line) => el("p", { class: "notice" }, line)),
    turnFacts(turn, found),
    found.reasons.length > 0 && el("ul", { class: "plain" }, found.reasons.map((reason) => el("li", {}, reason))),
    codePart(held, found),
    found.feedback !== null && part("Feedback: what the model was told", el("div", { class: "text", id: "feedback", tabindex: 0, role: "region", "aria-label": "Feedback" }, found.feedback)),
    evaluationView(found, openLine),
    textPart("The model's answer", found.reply), textPart("The model's reasoning", found.reasoning),
    el("details", {}, el("summary", {}, "Hashes and sampling"), facts([...Object.entries(found.hashes), ["sampling", JSON.stringify(found.sampling)]].map(([name, text]) => [name, el("code", {}, text)]))),
  ];
}

function textPart(title, text) {
  return known(text) && el("details", {}, el("summary", {}, title), el("div", { class: "text" }, text));
}

function turnFacts(turn, found) {
  const verdict = (value) => ({ true: "correct", false: "wrong" })[value] ?? "undecided";
  const proof = found.proof;
  return facts([
    ["verdict", `paper ${verdict(found.verdicts.paper)}, strict ${verdict(found.verdicts.strict)}`],
    ["undecided", found.undecided],
    ["blame", found.blame],
    ["speedup", known(of(turn, "speedup")) ? `${speed(of(turn, "speedup"))} (${micros(found.candidate_us)}, reference ${micros(found.reference_us)})${known(trusted(turn)) ? "" : ": counts as not timed"}` : ABSENT],
    ["target instructions", proof ? `${named(proof.status)}${proof.source_tag ? `; tagged in source: ${proof.source_tag}` : ""}` : "not looked at"],
    ["tokens", `${count(of(turn, "input_tokens"))} in, ${count(of(turn, "output_tokens"))} out${known(of(turn, "reasoning_tokens")) ? `, ${count(of(turn, "reasoning_tokens"))} of them reasoning` : ""}`],
    ["cost", money(of(turn, "cost_usd"))],
    ["served as", found.served_model],
    ["time", Object.entries(found.seconds).map(([name, value]) => `${name} ${seconds(value)}`).join(", ")],
    ["flags", found.flags.join(", ")],
  ]);
}

/** Returns the differences of two sources, file by file; one that only one of them has is new or gone. */
function changedFiles(before, after) {
  const text = (files, path) => files.find((one) => one.path === path)?.text ?? "";
  const paths = new Set([...before, ...after].map((file) => file.path));
  return [...paths].map((path) => diffView(path, text(before, path), text(after, path)));
}

/** The source, or its difference to the turn before (or to whichever turn is chosen). */
function codePart(held, found) {
  const mine = held.sources[found.source];
  if (!mine) return el("p", { class: "quiet" }, "No source of this turn is stored.");
  const others = held.turns.filter((one) => one !== found && held.sources[one.source]);
  const before = others.filter((one) => one.turn < found.turn).at(-1);
  const base = others.find((one) => String(one.turn) === route.query.get("base")) ?? before;
  const diff = route.query.get("show") === "diff" && base;
  const select = el("select", { id: "base", onchange: (event) => adjust({ show: "diff", base: event.target.value }) },
    others.map((one) => el("option", { value: one.turn, selected: one === base }, `turn ${one.turn}${one === before ? " (before)" : ""}`)));
  const options = [["source", "Source"], ["diff", base ? `Changes since turn ${base.turn}` : "Changes"]];
  const marks = new Map((found.evaluation?.build?.diagnostics.items ?? []).filter((one) => one.line).map((one) => [one.line, one.text]));
  return el("section", {}, el("h2", {}, "Source"),
    others.length > 0 && el("div", { class: "step" }, choice("What is shown", options, diff ? "diff" : "source", (show) => adjust({ show: show === "diff" ? "diff" : null })),
      el("label", { class: "small" }, "compared with ", select)),
    diff ? changedFiles(held.sources[base.source], mine)
      : mine.map((file) => sourceView(file, marks)));
}
