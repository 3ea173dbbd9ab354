// Source code: whole, or as the difference to another turn's.

/** Returns a source's lines. `marks`: line numbers (from 1) to their remarks. */
function sourceView(file, marks) {
  const lines = tokenLines(file.text.replace(/\n$/, ""), isPython(file.path)).map((line, place) => {
    const remark = marks.get(place + 1);
    return el("li", { "data-n": place + 1, "data-file": file.path, class: remark && "marked", title: remark ?? null }, el("span", {}, tokens(line)));
  });
  return [el("p", { class: "small quiet mono" }, file.path), el("div", { class: "code", tabindex: 0, role: "region", "aria-label": `Source ${file.path}` }, el("ol", {}, lines))];
}

function diffView(path, before, after) {
  const [a, b] = [before, after].map((text) => text.replace(/\n$/, "").split("\n"));
  const [left, right] = [before, after].map((text) => tokenLines(text.replace(/\n$/, ""), isPython(path)));
  const edits = lineEdits(a, b);
  const [plus, minus] = ["+", "-"].map((sign) => edits.filter((edit) => edit[0] === sign).length);
  if (!plus && !minus) return el("p", { class: "notice", id: "diff" }, `${path}: no line differs.`);
  const lines = folded(edits).map(([sign, i, j]) => {
    if (sign === "…") return el("li", { class: "pair skip-lines", "data-o": "", "data-n": "" }, `… ${i} equal lines`);
    const line = sign === "-" ? left[i] : right[j];
    const numbers = { "data-o": String(i === null ? "" : i + 1).padStart(4), "data-n": String(j === null ? "" : j + 1).padStart(4) };
    return el("li", { ...numbers, class: `pair ${sign === "+" ? "plus" : sign === "-" ? "minus" : ""}` }, el("span", { class: "sign" }, sign), el("span", {}, tokens(line)));
  });
  return [
    el("p", { class: "small quiet mono" }, `${path}: ${plus} lines added, ${minus} removed`),
    el("div", { class: "code", id: "diff", tabindex: 0, role: "region", "aria-label": `Differences in ${path}` }, el("ol", {}, lines)),
  ];
}

function openLine(path, line) {
  const lines = [...document.querySelectorAll(`.code li[data-n="${Number(line)}"]`)];
  const found = lines.find((one) => one.dataset.file === path) ?? lines.find((one) => one.dataset.file?.split("/").pop() === path.split("/").pop());
  found?.scrollIntoView({ block: "center" });
  found?.classList.add("marked");
}
