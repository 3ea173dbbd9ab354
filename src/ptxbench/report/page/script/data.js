// The data: what the page shows at once is JSON in the document; what it shows of a turn is deflated, and unpacked when asked for.

let data = JSON.parse(document.getElementById("data").textContent);
let column = {};
let cellById = new Map();

/** Takes in the data, again whenever a live page is told of more. */
function index() {
  column = Object.fromEntries(data.turn_columns.map((name, place) => [name, place]));
  cellById = new Map(data.cells.map((cell) => [cell.id, cell]));
}

const runNamed = (name) => data.runs.find((run) => run.run === name);
const trajectoryOf = (cell, name) => cell.trajectories.find((one) => one.name === name);
const of = (turn, name) => turn[column[name]];
const outcomeOf = (turn) => data.outcomes[of(turn, "outcome")];
const proofOf = (turn) => data.proofs[of(turn, "proof")] ?? null;
const isCorrect = (turn) => outcomeOf(turn) === "correct";
const isQualified = (cell, turn) => cell.target && isCorrect(turn) && proofOf(turn) === "qualified";
const trusted = (turn) => (of(turn, "trusted") ? of(turn, "speedup") : null);

/** Returns the figures of a cell, over one prompt variant where one is chosen. */
const figuresOf = (cell, variant) => (variant && cell.by_variant[variant]) || cell.figures;

/** Returns a trajectory's turn with the best trusted speedup, qualified ones only if asked; null without one. */
function bestTurn(cell, trajectory, qualifiedOnly) {
  let best = null;
  for (const turn of trajectory.turns) {
    if (!known(trusted(turn)) || (qualifiedOnly && !isQualified(cell, turn))) continue;
    if (best === null || trusted(turn) > trusted(best)) best = turn;
  }
  return best;
}

const unpacked = new Map();
let packedDetails = null;

/** Returns the details of a trajectory: a promise of `{sources, turns}`; null where the page holds none. */
function details(cell, trajectory) {
  const name = `${cell.id}/${trajectory.name}/${trajectory.turns.length}`;
  if (!unpacked.has(name)) unpacked.set(name, data.live ? fetched(cell, trajectory) : inflated(cell, trajectory));
  return unpacked.get(name);
}

async function inflated(cell, trajectory) {
  if (!trajectory.details) return null;
  const { pool, trajectories } = await chunk(...trajectory.details);
  const found = trajectories[`${cell.id}/${trajectory.name}`];
  const text = (ranges) => (ranges ? pooled(pool, ranges) : null);
  return {
    sources: found.sources.map((files) => files.map((file) => ({ ...file, text: text(file.text) }))),
    turns: found.turns.map((turn) => ({ ...turn, feedback: text(turn.feedback), reply: text(turn.reply), reasoning: text(turn.reasoning) })),
  };
}

/** Returns a text that is written as ranges of lines: first line, number of lines, and again. */
function pooled(pool, ranges) {
  const lines = [];
  for (let place = 0; place < ranges.length; place += 2) lines.push(...pool.slice(ranges[place], ranges[place] + ranges[place + 1]));
  return lines.join("\n");
}

/** Returns a chunk of details: a pool of lines, and trajectories whose texts are ranges of it. */
async function chunk(start, length) {
  await wholeDocument;
  packedDetails ??= document.getElementById("details").textContent;
  const packed = packedDetails.slice(start, start + length);
  const stream = new Blob([bytesOf(packed)]).stream().pipeThrough(new DecompressionStream("deflate-raw"));
  const { pool, trajectories } = JSON.parse(await new Response(stream).text());
  return { pool: pool.split("\n"), trajectories };
}

async function fetched(cell, trajectory) {
  const query = new URLSearchParams({ cell: cell.id, trajectory: trajectory.name });
  const answer = await fetch(`trajectory?${query}`);
  if (!answer.ok) throw new Error(`the server answers ${answer.status}`);
  return answer.json();
}

const DIGITS = "0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz!#$%,()*+-;.=:?@^_`{|}~";
const VALUES = new Uint8Array(128);
[...DIGITS].forEach((digit, value) => (VALUES[digit.charCodeAt(0)] = value));

/** Returns the bytes of a text in base 85: five digits for four bytes, a rest of n digits for n - 1 bytes. */
function bytesOf(text) {
  const bytes = new Uint8Array(Math.floor((text.length * 4) / 5));
  for (let from = 0, to = 0; from < text.length; from += 5, to += 4) {
    let value = 0;
    for (let place = from; place < from + 5; place += 1) value = value * 85 + (place < text.length ? VALUES[text.charCodeAt(place)] : 84);
    // Places behind the end take nothing.
    for (let byte = 0; byte < 4; byte += 1) bytes[to + byte] = value >>> (24 - 8 * byte);
  }
  return bytes;
}

/** The details stand at the end of the document, which may not have arrived when the first view is drawn. */
const wholeDocument = new Promise((resolve) => {
  if (document.readyState === "loading") document.addEventListener("DOMContentLoaded", resolve, { once: true });
  else resolve();
});
