// Numbers as texts. What is unknown is a dash, and never zero.

const ABSENT = "–";

const known = (value) => value !== null && value !== undefined;
const percent = (value) => (known(value) ? `${(100 * value).toFixed(1)} %` : ABSENT);
const speed = (value) => (known(value) ? `${value.toFixed(3)}×` : ABSENT);
const count = (value) => (known(value) ? value.toLocaleString("en") : ABSENT);
const seconds = (value) => (known(value) ? (value > 0 && value < 0.001 ? "< 0.001 s" : `${significant(value)} s`) : ABSENT);
const money = (value) => (known(value) ? `${significant(value)} USD` : ABSENT);
const micros = (value) => (known(value) ? `${value.toLocaleString("en", { maximumFractionDigits: 2 })} µs` : ABSENT);
const yesNo = (value) => (known(value) ? (value ? "yes" : "no") : "unknown");

function significant(value) {
  return Number(value.toPrecision(3)).toLocaleString("en", { maximumSignificantDigits: 3 });
}

/** Returns a share that `unknown` turns could raise: with any, it is a lower bound. */
const atLeast = (value, unknown) => `${known(value) && unknown ? "≥ " : ""}${percent(value)}`;

/** Returns a rate with what its cell could not decide. */
function rate(value, at) {
  if (!known(value)) return at.undecided_turns && !known(at.turn_correctness) ? "undecided" : ABSENT;
  return atLeast(value, at.undecided_turns);
}

/** Returns a rate of turns that executed target instructions, which unknown proofs could raise as well. */
const targetRate = (value, at) => (known(value) ? atLeast(value, at.undecided_turns + at.unknown_proofs) : rate(value, at));

function interval(bounds) {
  return bounds ? `95 %: ${(100 * bounds[0]).toFixed(1)} to ${(100 * bounds[1]).toFixed(1)}` : null;
}
