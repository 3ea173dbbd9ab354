// From an address to what is shown.

function draw({ keepFocus = false } = {}) {
  drawnHash = location.hash;
  route = parsed(drawnHash);
  const main = document.getElementById("main");
  const focused = keepFocus && document.activeElement?.id ? document.activeElement : null;
  const selection = focused?.type === "search" ? [focused.selectionStart, focused.selectionEnd] : null;
  const { crumbs, content, title } = view();
  replace(main, content);
  replace(document.getElementById("crumbs"), el("ol", {}, crumbs.map(([text, to]) => el("li", {}, to ? el("a", { href: to }, text) : el("span", { "aria-current": "page" }, text)))));
  document.title = `${title} · ptxbench`;
  if (focused) {
    const same = document.getElementById(focused.id);
    same?.focus({ preventScroll: true });
    if (selection) same?.setSelectionRange(...selection);
  }
}

function view() {
  const [kind, name, trajectoryName, turnName] = route.path;
  const all = ["All results", address([])];
  if (kind === undefined) return { crumbs: [["All results", null]], content: overview(null), title: "Results" };
  if (kind === "run") return { crumbs: [all, [name, null]], content: overview(name), title: name };
  const cell = kind === "cell" ? cellById.get(name) : undefined;
  if (!cell) return { crumbs: [all], content: missing("This address leads nowhere on this page."), title: "Not here" };
  const crumbs = [all, [cell.key.run, address(["run", cell.key.run])]];
  const label = `${cell.key.model} on ${cell.key.task}`;
  if (trajectoryName === undefined) return { crumbs: [...crumbs, [label, null]], content: cellView(cell), title: label };
  const trajectory = trajectoryOf(cell, trajectoryName);
  crumbs.push([label, address(["cell", cell.id])]);
  if (!trajectory) return { crumbs, content: missing(`There is no trajectory ${trajectoryName} in this cell.`), title: "Not here" };
  if (turnName === undefined) return { crumbs: [...crumbs, [trajectory.name, null]], content: trajectoryView(cell, trajectory), title: `${trajectory.name}, ${label}` };
  crumbs.push([trajectory.name, address(["cell", cell.id, trajectory.name])]);
  const turn = trajectory.turns.find((one) => String(of(one, "turn")) === turnName);
  if (!turn) return { crumbs, content: missing(`There is no turn ${turnName} in this trajectory.`), title: "Not here" };
  return { crumbs: [...crumbs, [`turn ${turnName}`, null]], content: turnView(cell, trajectory, turn), title: `Turn ${turnName}, ${trajectory.name}, ${label}` };
}

index();
setTheme(stored("ptxbench-theme"));
draw();
requestAnimationFrame(() => performance.mark("drawn"));
window.addEventListener("hashchange", arrive);
document.addEventListener("keydown", onKey);
document.getElementById("theme").addEventListener("click", nextTheme);
document.getElementById("help").addEventListener("click", showKeys);
listen();
