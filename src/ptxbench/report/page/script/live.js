// A served page hears of new turns and draws itself again, where it stands. A file hears of nothing.

function listen() {
  if (!data.live) return;
  const source = new EventSource("events");
  source.addEventListener("open", () => state("live"));
  source.addEventListener("changed", refresh);
  source.addEventListener("error", () => state("not connected"));
}

let refreshing = false;
let again = false;

/** Takes the data again; news that come meanwhile are taken once more, after it. */
async function refresh() {
  again = true;
  if (refreshing) return;
  refreshing = true;
  try {
    while (again) {
      again = false;
      const answer = await fetch("data");
      if (!answer.ok) throw new Error(`the server answers ${answer.status}`);
      data = await answer.json();
      index();
      draw({ keepFocus: true });
      state("live");
    }
  } catch (error) {
    if (!(error instanceof Error)) throw error;
    state(`not read: ${error.message}`);
  } finally {
    refreshing = false;
  }
}

function state(text) {
  const turns = data.cells.reduce((sum, cell) => sum + cell.figures.n, 0);
  replace(document.getElementById("state"), el("span", { class: "small quiet" }, `${text} · ${count(turns)} turns`));
}
