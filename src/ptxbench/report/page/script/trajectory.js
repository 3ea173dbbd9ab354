// A trajectory: its turns as a strip, and as a table.

function tone(cell, turn) {
  if (isCorrect(turn)) return !cell.target || isQualified(cell, turn) ? "good" : "fair";
  return outcomeOf(turn) === "undecided" ? "fair" : "bad";
}

/** Returns links to the turns of a trajectory: what became of each, the best one marked. */
function turnStrip(cell, trajectory, current) {
  const best = bestTurn(cell, trajectory, false);
  const links = trajectory.turns.map((turn) => {
    const number = of(turn, "turn");
    const marks = { class: `${tone(cell, turn)}${turn === best ? " bestmark" : ""}`, href: address(["cell", cell.id, trajectory.name, number]) };
    const words = `turn ${number}: ${named(outcomeOf(turn))}${known(trusted(turn)) ? `, ${speed(trusted(turn))}` : ""}${turn === best ? ", the best" : ""}`;
    const shown = known(trusted(turn)) ? trusted(turn).toFixed(2) : letters(turn);
    return el("a", { ...marks, title: words, "aria-label": `${shown}, ${words}`, "aria-current": number === current && "page" }, shown);
  });
  const end = trajectory.ended;
  return el("div", { class: "strip" }, links, end && el("span", { class: "small quiet" }, `ended before turn ${end.turn}: ${named(end.reason)}`));
}

/** Two or three letters stand for an outcome in the strip; the link's name has all of it. */
function letters(turn) {
  const outcome = outcomeOf(turn);
  return outcome === "correct" ? "ok" : outcome === "undecided" ? "?" : outcome.split("_").map((word) => word[0]).join("") + (outcome.includes("_") ? "" : outcome[1]);
}

function trajectoryView(cell, trajectory) {
  const best = bestTurn(cell, trajectory, false);
  const columns = [
    { name: "turn", label: "turn", value: (turn) => of(turn, "turn"), cell: (turn) => `turn ${of(turn, "turn")}` },
    { name: "outcome", label: "outcome", value: (turn) => of(turn, "outcome"), cell: (turn) => outcomeText(cell, turn) },
    {
      name: "speedup", label: "speedup", number: true, value: (turn) => trusted(turn),
      cell: (turn) => [speed(of(turn, "speedup")), turn === best && el("span", { class: "sub" }, "best"), known(of(turn, "speedup")) && !known(trusted(turn)) && el("span", { class: "sub" }, "counts as not timed")],
    },
    cell.target && { name: "proof", label: "target instructions", value: (turn) => of(turn, "proof"), cell: (turn) => named(proofOf(turn) ?? ABSENT) },
    { name: "output", label: "tokens out", number: true, value: (turn) => of(turn, "output_tokens"), cell: (turn) => count(of(turn, "output_tokens")) },
    { name: "judge", label: "compiled and judged", number: true, value: (turn) => of(turn, "judge_s"), cell: (turn) => seconds(of(turn, "judge_s")) },
    { name: "held", label: "source", cell: (turn) => (!of(turn, "source") ? "none" : holds(trajectory, of(turn, "turn")) ? "here" : "not in this file") },
  ].filter(Boolean);
  return [
    el("h1", {}, `${cell.key.task}, trajectory ${trajectory.name}`),
    el("p", { class: "heading" }, el("strong", {}, `baseline ${cell.baseline ?? "not measured"}`), ` · ${cell.key.model} · ${cell.key.arch}`),
    neighbours(cell, trajectory),
    turnStrip(cell, trajectory, null),
    el("h2", {}, "Turns"),
    table({ caption: "Turns", columns, rows: trajectory.turns, open: (turn) => address(["cell", cell.id, trajectory.name, of(turn, "turn")]) }),
  ];
}

const holds = (trajectory, turn) => data.live || data.whole || Boolean(trajectory.held?.includes(turn));

function outcomeText(cell, turn) {
  return el("span", { class: tone(cell, turn) }, named(outcomeOf(turn)));
}

function neighbours(cell, trajectory) {
  const place = cell.trajectories.indexOf(trajectory);
  const link = (one, words) => one && el("a", { href: address(["cell", cell.id, one.name]) }, words);
  return el("p", { class: "step" }, link(cell.trajectories[place - 1], "↑ trajectory before"), link(cell.trajectories[place + 1], "↓ next trajectory"));
}
