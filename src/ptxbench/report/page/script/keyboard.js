// Keys: arrows walk through turns, trajectories and rows; / goes to the filter; ? names them all.

const KEYS = [
  ["← →", "turn before, next turn"], ["↑ ↓", "row above and below; on a turn: trajectory before, next trajectory"], ["Enter", "open the row"],
  ["u", "one level up"], ["d", "source, or what changed since the turn before"], ["/", "filter"], ["t", "theme"], ["?", "these keys"], ["Esc", "close, or leave the filter"],
];

function onKey(event) {
  if (event.ctrlKey || event.metaKey || event.altKey || document.getElementById("keys").open) return;
  const typing = event.target.closest?.("input, select, textarea");
  if (typing) {
    if (event.key === "Escape") event.target.blur();
    return;
  }
  // A part that scrolls by itself keeps its arrows.
  if (event.key.startsWith("Arrow") && event.target.closest?.("[role=region]")) return;
  const act = { "/": toFilter, "?": showKeys, t: nextTheme, u: up, d: toggleDiff, ArrowLeft: () => turnBy(-1), ArrowRight: () => turnBy(1), ArrowUp: () => rowBy(-1), ArrowDown: () => rowBy(1) }[event.key];
  if (act && act() !== false) event.preventDefault();
}

function toFilter() {
  if (!document.getElementById("filter-text")) go(address([]));
  document.getElementById("filter-text").select();
}

function up() {
  if (route.path.length === 0) return false;
  const cell = route.path[0] === "cell" && route.path.length === 2 ? cellById.get(route.path[1]) : null;
  if (cell && data.runs.length > 1) return go(address(["run", cell.key.run]));
  return go(address(route.path.length > 2 ? route.path.slice(0, -1) : []));
}

const onTurn = () => route.path[0] === "cell" && route.path.length === 4;

function toggleDiff() {
  if (!onTurn()) return false;
  return adjust({ show: route.query.get("show") === "diff" ? null : "diff" });
}

/** Goes to another turn of the trajectory; from a trajectory's own page to its first or last one. */
function turnBy(step) {
  if (route.path[0] !== "cell" || route.path.length < 3) return false;
  const [, id, name, number] = route.path;
  const turns = trajectoryOf(cellById.get(id), name)?.turns ?? [];
  const place = turns.findIndex((turn) => String(of(turn, "turn")) === number);
  const next = number === undefined ? turns.at(step > 0 ? 0 : -1) : turns[place + step];
  return next ? go(address(["cell", id, name, of(next, "turn")], viewQuery())) : false;
}

function rowBy(step) {
  if (onTurn()) return trajectoryBy(step);
  const rows = [...document.querySelectorAll("a.row")];
  if (!rows.length) return false;
  const place = rows.indexOf(document.activeElement);
  const next = rows[place < 0 ? (step > 0 ? 0 : rows.length - 1) : place + step];
  next?.focus();
  return Boolean(next);
}

function trajectoryBy(step) {
  const [, id, name] = route.path;
  const cell = cellById.get(id);
  const next = cell?.trajectories[cell.trajectories.indexOf(trajectoryOf(cell, name)) + step];
  return next ? go(address(next.turns.length ? ["cell", id, next.name, of(next.turns[0], "turn")] : ["cell", id, next.name])) : false;
}

function showKeys() {
  const dialog = document.getElementById("keys");
  const rows = KEYS.map(([keys, words]) => [el("dt", {}, keys.split(" ").map((key) => [el("kbd", {}, key), " "])), el("dd", {}, words)]);
  replace(dialog, el("h2", { id: "keys-title" }, "Keys"), el("dl", { class: "facts" }, rows), el("button", { type: "button", onclick: () => dialog.close() }, "Close"));
  dialog.showModal();
}
