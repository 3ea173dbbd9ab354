// Differences of two texts by lines: Myers' greedy algorithm (An O(ND) Difference Algorithm, 1986) between the common ends.

const MOST_EDITS = 3000;

/** Returns edits in order: [" ", i, j], ["-", i, null] and ["+", null, j], with line indices of the two texts. */
function lineEdits(a, b) {
  let start = 0;
  while (start < a.length && start < b.length && a[start] === b[start]) start += 1;
  let [endA, endB] = [a.length, b.length];
  while (endA > start && endB > start && a[endA - 1] === b[endB - 1]) [endA, endB] = [endA - 1, endB - 1];
  const edits = [];
  for (let i = 0; i < start; i += 1) edits.push([" ", i, i]);
  for (const [sign, i, j] of middleEdits(a.slice(start, endA), b.slice(start, endB))) {
    edits.push([sign, i === null ? null : i + start, j === null ? null : j + start]);
  }
  for (let i = endA; i < a.length; i += 1) edits.push([" ", i, endB + i - endA]);
  return edits;
}

function middleEdits(a, b) {
  const trace = explored(a, b);
  if (trace === null) return [...a.map((_, i) => ["-", i, null]), ...b.map((_, j) => ["+", null, j])];
  const edits = [];
  let [x, y] = [a.length, b.length];
  for (let d = trace.length - 1; d >= 0; d -= 1) {
    const reach = (k) => trace[d][k + d] ?? -1;
    const k = x - y;
    const down = k === -d || (k !== d && reach(k - 1) < reach(k + 1));
    const before = down ? k + 1 : k - 1;
    const [fromX, fromY] = d === 0 ? [0, 0] : [reach(before), reach(before) - before];
    while (x > fromX && y > fromY) {
      [x, y] = [x - 1, y - 1];
      edits.push([" ", x, y]);
    }
    if (d > 0) edits.push(down ? ["+", null, fromY] : ["-", fromX, null]);
    [x, y] = [fromX, fromY];
  }
  return edits.reverse();
}

/** Returns, for each number of edits d, the furthest x on diagonals -d … d before that step; null when there are too many. */
function explored(a, b) {
  const trace = [];
  let reach = new Map([[1, 0]]);
  for (let d = 0; d <= Math.min(a.length + b.length, MOST_EDITS); d += 1) {
    trace.push(Array.from({ length: 2 * d + 1 }, (_, place) => reach.get(place - d)));
    const next = new Map(reach);
    for (let k = -d; k <= d; k += 2) {
      const down = k === -d || (k !== d && (reach.get(k - 1) ?? -1) < (reach.get(k + 1) ?? -1));
      let x = down ? (reach.get(k + 1) ?? 0) : reach.get(k - 1) + 1;
      let y = x - k;
      while (x < a.length && y < b.length && a[x] === b[y]) [x, y] = [x + 1, y + 1];
      next.set(k, x);
      if (x >= a.length && y >= b.length) return trace;
    }
    reach = next;
  }
  return null;
}

/** Returns edits with long stretches of equal lines replaced by ["…", how many]. */
function folded(edits, context = 3) {
  const near = new Uint8Array(edits.length);
  edits.forEach(([sign], place) => {
    if (sign === " ") return;
    near.fill(1, Math.max(0, place - context), place + context + 1);
  });
  const shown = [];
  let hidden = 0;
  edits.forEach((edit, place) => {
    if (near[place]) {
      if (hidden) shown.push(["…", hidden]);
      hidden = 0;
      shown.push(edit);
    } else hidden += 1;
  });
  if (hidden) shown.push(["…", hidden]);
  return shown;
}
