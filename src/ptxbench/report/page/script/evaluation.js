// What an evaluation found, stage by stage: policy, diagnostics, resources, memory checkers, outputs, latency, proof, counters.

function evaluationView(turn, openLine) {
  const found = turn.evaluation;
  if (!found) return null;
  return [
    policyPart(found.policy), buildPart(found.build, openLine), checksPart(found.checks), correctnessPart(found.correctness),
    debugPart(found.debug), latencyPart(found.latency), proofPart(found.proof), countersPart(found.counters), flagsPart(found.flags),
  ];
}

const part = (title, ...content) => el("section", {}, el("h2", {}, title), content);
const rest = (list) => list.all > list.items.length && el("p", { class: "quiet small" }, `${list.all - list.items.length} more are left out`);

function plainTable(caption, heads, rows, numbers = []) {
  const at = (place) => numbers.includes(place) && "number";
  return el("div", { class: "scroll", tabindex: 0, role: "region", "aria-label": caption }, el("table", { "aria-label": caption },
    el("thead", {}, el("tr", {}, heads.map((text, place) => el("th", { scope: "col", class: at(place) }, text)))),
    el("tbody", {}, rows.map((cells) => el("tr", {}, cells.map((cell, place) => el("td", { class: at(place) }, cell)))))));
}

function placeOf(item, openLine) {
  if (!item.file) return null;
  const text = `${item.file}${item.line ? `:${item.line}` : ""}`;
  return item.line ? el("button", { type: "button", class: "mono", onclick: () => openLine(item.file, item.line) }, text) : el("code", {}, text);
}

function policyPart(policy) {
  if (!policy || (policy.ok && !policy.flags.length)) return null;
  const lines = [...policy.violations, ...policy.flags].map((one) => el("li", {}, `${one.rule} `, placeOf(one, () => {}), " ", el("code", {}, one.text)));
  return part(policy.ok ? "Policy: kept, with flags" : "Policy: refused", el("ul", { class: "plain" }, lines));
}

function buildPart(build, openLine) {
  if (!build) return null;
  const lines = build.diagnostics.items.map((one) =>
    el("li", {}, el("span", { class: one.severity === "error" ? "bad" : "fair" }, `${one.severity} `), placeOf(one, openLine), ` ${one.text} `, el("span", { class: "quiet small" }, [one.stage, one.code].filter(Boolean).join(", "))));
  const kernels = build.kernels.items.map((kernel) => [
    el("code", {}, kernel.name), count(kernel.registers), count(kernel.spill_bytes), count(kernel.stack_bytes), count(kernel.shared_bytes),
  ]);
  const versions = Object.entries(build.toolchain ?? {}).filter(([, text]) => text).map(([name, text]) => `${name} ${text}`).join(" · ");
  return part(`Build: ${build.ok ? "ok" : "failed"}`,
    el("p", { class: "quiet small" }, `${build.cached ? "cached" : seconds(build.seconds)}${versions ? ` · ${versions}` : ""}`),
    lines.length > 0 && [el("h3", {}, "Diagnostics"), el("ul", { class: "plain", id: "diagnostics" }, lines), rest(build.diagnostics)],
    kernels.length > 0 && [el("h3", {}, "Resources"), plainTable("Resources", ["kernel", "registers", "spilled B", "stack B", "static shared B"], kernels, [1, 2, 3, 4]), rest(build.kernels)],
    build.kernels.items.map((kernel) => kernel.opcodes.length > 0 && el("details", {}, el("summary", {}, `Instructions in the binary of ${kernel.name}`), opcodes(kernel.opcodes, count))));
}

function opcodes(list, text) {
  const rows = list.map(([name, n, target]) => [el("code", { class: target && "good" }, name), text(n), target ? "target instruction" : ""]);
  return plainTable("Instructions", ["instruction", "count", ""], rows, [1]);
}

function checksPart(checks) {
  return checks.map((check) => part(`${check.tool}: ${check.status}`,
    check.why && el("p", {}, check.why),
    check.findings.items.length > 0 && el("ul", { class: "plain" }, check.findings.items.map((one) => el("li", {}, one.text))), rest(check.findings)));
}

function correctnessPart(correctness) {
  if (!correctness) return null;
  const sets = correctness.sets.map((set) => [
    set.name, yesNo(set.paper), yesNo(set.strict), `${count(set.mismatches)} of ${count(set.elements)}`, error(set.max_abs), error(set.max_rel),
  ]);
  const outputs = correctness.outputs.filter((one) => one.mismatches || one.unwritten || one.pattern).map((one) => el("li", {},
    `${one.name}: ${count(one.mismatches)} mismatches, ${count(one.unwritten)} never written`,
    one.worst && `; worst at [${one.worst.index.join(", ")}]: expected ${one.worst.expected}, got ${one.worst.got ?? one.worst.got_text}`,
    one.pattern && el("div", {}, one.pattern.text)));
  return part("Outputs",
    plainTable("Input sets", ["input set", "paper", "strict", "elements outside", "largest error", "relative"], sets, [3, 4, 5]),
    outputs.length > 0 && el("ul", { class: "plain" }, outputs),
    correctness.inputs_modified && el("p", { class: "bad" }, "The inputs were changed."));
}

const error = (value) => (typeof value === "number" ? value.toPrecision(3) : (value ?? ABSENT));

function debugPart(debug) {
  if (!debug) return null;
  return part("Failure", el("p", { class: "text" }, debug.text), debug.output && el("details", {}, el("summary", {}, "What it printed"), el("div", { class: "text" }, debug.output)));
}

function latencyPart(latency) {
  if (!latency) return null;
  const reference = `${latency.reference.library}${latency.reference.version ? ` ${latency.reference.version}` : ""}`;
  return part(`Latency, baseline ${reference}`,
    el("p", { class: "small" }, notOf("latency")),
    facts([
      ["candidate", micros(latency.candidate_us)], ["reference", micros(latency.reference_us)], ["speedup", speed(latency.speedup)],
      ["trial by trial", known(latency.paired_speedup) ? speed(latency.paired_speedup) : null], ["measured by", latency.method],
      ["roofline", known(latency.roofline_us) ? micros(latency.roofline_us) : null],
      ["clock", latency.clocks ? `${latency.clocks.sm_mhz_before ?? "?"} MHz before, ${latency.clocks.sm_mhz_after ?? "?"} after` : null],
    ]),
    samplePlot([
      { label: "candidate", colour: 1, samples: latency.samples_us }, { label: `reference (${reference})`, colour: 2, samples: latency.reference_samples_us },
    ]));
}

function proofPart(proof) {
  if (!proof) return null;
  const kernels = proof.kernels.items.map((kernel) => [
    el("h3", {}, el("code", {}, kernel.name), ` launched ${count(kernel.launches)} times`),
    plainTable("Executed instructions", ["instruction", "warps", "threads, predicate true", ""],
      kernel.executed.map(([name, n, target]) => [el("code", { class: target && "good" }, name), count(n.warp), count(n.thread_true), target ? "target instruction" : ""]), [1, 2]),
  ]);
  return part(`Proof: ${named(proof.status)}`,
    facts([
      ["target compute", yesNo(proof.compute)], ["target data movement", yesNo(proof.data_movement)], ["counted by", proof.method],
      ["work share", known(proof.work_share) ? [proof.work_share.toFixed(3), " ", notOf("work_share")] : null],
      ["without matrix instructions", proof.mutation && `outputs are ${proof.mutation}`],
    ]), kernels, rest(proof.kernels));
}

function countersPart(counters) {
  if (!counters) return null;
  const share = (value) => (known(value) ? `${value.toFixed(1)} %` : ABSENT);
  const rows = counters.kernels.items.map((one) => [
    el("code", {}, one.kernel), micros(one.duration_us), share(one.sm_percent), share(one.dram_percent), share(one.tensor_percent), share(one.occupancy_percent),
    one.stalls.slice(0, 2).map((stall) => `${named(stall.reason)} ${(100 * stall.share).toFixed(0)} %`).join(", "),
  ]);
  return part("Hardware counters", counters.why && el("p", {}, counters.why),
    rows.length > 0 && plainTable("Counters", ["kernel", "time", "busiest pipe", "memory", "tensor", "occupancy", "stalls"], rows, [1, 2, 3, 4, 5]));
}

function flagsPart(flags) {
  return flags.length > 0 && part("Flags", el("ul", { class: "plain" }, flags.map((flag) => el("li", {}, el("code", {}, flag.code), ` ${flag.text}`))));
}
