// Colours of source code: a scanner of tokens that knows comments, strings, directives, words and the PTX in strings.

const C_WORDS = words(`alignas alignof asm auto bool break case char class const constexpr const_cast continue default delete do double
  else enum explicit extern false float for friend goto if inline int long mutable namespace new noexcept nullptr operator private
  protected public register reinterpret_cast return short signed sizeof static static_assert static_cast struct switch template this
  throw true try typedef typename union unsigned using virtual void volatile while __asm__ __global__ __device__ __host__ __shared__
  __constant__ __forceinline__ __noinline__ __launch_bounds__ __restrict__ __cluster_dims__ __grid_constant__ __align__ threadIdx
  blockIdx blockDim gridDim uint8_t uint16_t uint32_t uint64_t int8_t int16_t int32_t int64_t size_t half __half __nv_bfloat16`);
const PYTHON_WORDS = words(`and as assert async await break class continue def del elif else except False finally for from global if
  import in is lambda None nonlocal not or pass raise return True try while with yield self tl triton`);

// Groups of both: 1 comment, 2 string, 3 (end of a raw string), 4 directive or decorator, 5 number, 6 word.
const C_TOKENS = /(\/\/[^\n]*|\/\*[\s\S]*?(?:\*\/|$(?![\s\S])))|(R"([^\s()\\]{0,16})\([\s\S]*?\)\3"|"(?:\\.|[^"\\\n])*"?|'(?:\\.|[^'\\\n])*'?)|(#[^\n]*)|(\b\d[\w.']*)|([A-Za-z_]\w*)/g;
const PYTHON_TOKENS = /(#[^\n]*)|("""[\s\S]*?(?:"""|$(?![\s\S]))|'''[\s\S]*?(?:'''|$(?![\s\S]))|"(?:\\.|[^"\\\n])*"?|'(?:\\.|[^'\\\n])*'?)|(?!)()|(@[\w.]+)|(\b\d[\w.]*)|([A-Za-z_]\w*)/g;
const PTX = /\b(?:wgmma|tcgen05|mma|ldmatrix|stmatrix|cp|mbarrier|fence|barrier|bar|setmaxnreg|elect|ld|st|red|atom|mapa|griddepcontrol|prefetch|cvt|mov|add|sub|mul|fma|and|or|xor|shl|shr|setp|selp|bra|tensormap|multimem)\.[\w.:]+/g;
const MOST_HIGHLIGHTED = 150_000;

function words(text) {
  return new Set(text.split(/\s+/));
}

/** Returns the lines of a source, each a list of [class or null, text]. */
function tokenLines(text, python) {
  const lines = [[]];
  const put = (kind, part) => {
    part.split("\n").forEach((piece, place) => {
      if (place > 0) lines.push([]);
      if (piece) lines.at(-1).push([kind, piece]);
    });
  };
  if (text.length > MOST_HIGHLIGHTED) put(null, text);
  else scan(text, python, put);
  return lines;
}

function scan(text, python, put) {
  const pattern = new RegExp(python ? PYTHON_TOKENS : C_TOKENS);
  const reserved = python ? PYTHON_WORDS : C_WORDS;
  let last = 0;
  for (const found of text.matchAll(pattern)) {
    put(null, text.slice(last, found.index));
    last = found.index + found[0].length;
    if (found[1] !== undefined) put("comment", found[0]);
    else if (found[2] !== undefined) putString(found[0], put);
    else if (found[4] !== undefined) put(python || startsLine(text, found.index) ? "directive" : null, found[0]);
    else if (found[5] !== undefined) put("number", found[0]);
    else put(reserved.has(found[0]) ? "word" : null, found[0]);
  }
  put(null, text.slice(last));
}

function startsLine(text, place) {
  return text.slice(text.lastIndexOf("\n", place - 1) + 1, place).trim() === "";
}

function putString(text, put) {
  let last = 0;
  for (const found of text.matchAll(PTX)) {
    put("string", text.slice(last, found.index));
    put("ptx", found[0]);
    last = found.index + found[0].length;
  }
  put("string", text.slice(last));
}

const isPython = (path) => path.endsWith(".py");
const tokens = (line) => line.map(([kind, text]) => (kind ? el("span", { class: `t-${kind}` }, text) : text));
