"""Replies as models really write them: the block that a person would take is the one that is taken."""

import pytest

from ptxbench.agent.extract import extract
from ptxbench.schema import Language

CODE = "#include <cstdint>\nvoid run() {\n  int x;\n}\n"
OLD = "void old() {}\n"
BLOCK = f"```cuda\n{CODE}```\n"
DRAFT = f"```cuda\n{OLD}```\n"


def lines(prefix, text):
    return "".join(f"{prefix}{line}\n" for line in text.splitlines())


CUDA = {
    "title attribute": f'```cpp title="kernel.cu"\n{CODE}```',
    "pandoc attribute": f"```{{.cpp}}\n{CODE}```",
    "pandoc with an id": f"``` {{ .cuda #kernel .numberLines }}\n{CODE}```",
    "file after a colon": f"```cpp:kernel.cu\n{CODE}```",
    "file in parentheses": f"```cuda (kernel.cu)\n{CODE}```",
    "line numbers": f"```cpp{{1-3}}\n{CODE}```",
    "comment as title": f"```cuda // kernel.cu\n{CODE}```",
    "two words": f"```CUDA C++\n{CODE}```",
    "label set off": f"```   cuda   \n{CODE}```",
    "byte order mark before the fence": f"\ufeff{BLOCK}",
    "byte order mark in the code": f"```cuda\n\ufeff{CODE}```",
    "zero-width space before the fence": f"\u200b```cuda\n{CODE}```",
    "zero-width space in the label": f"```\u200bcuda\u200b\n{CODE}```",
    "zero-width space after the closing fence": f"```cuda\n{CODE}```\u200b\nDone.",
    "no-break space before the closing fence": f"```cuda\n{CODE}\u00a0```\nDone.",
    "windows": f"Here:\r\n\r\n{BLOCK}".replace("\r\n", "\n").replace("\n", "\r\n") + "\r\nDone.\r\n",
    "tab before the fences": f"\t```cuda\n{CODE}\t```\nDone.",
    "block quote": lines("> ", BLOCK) + "\nDone.",
    "block quote in a block quote": lines("> > ", BLOCK),
    "bullet": "- ```cuda\n" + lines("  ", CODE) + "  ```\n- next",
    "numbered": "1. ```cuda\n" + lines("   ", CODE) + "   ```\n2. next",
    "nested list": "* a\n  * b\n\n" + lines("    ", BLOCK) + "  * c",
    "details": f"<details>\n<summary>kernel.cu</summary>\n\n{BLOCK}\n</details>\n",
    "html around": f"<div class='x'>\n{BLOCK}</div>",
    "thought with a draft": f"<think>\nFirst {DRAFT}no.\n</think>\n\n{BLOCK}",
    "thought with an unclosed draft": f"<think>\n```cuda\nvoid draft(\nhm no\n</think>\n{BLOCK}",
    "thought with an unclosed bare fence": f"<think>\n```\nhm\n</think>\n{BLOCK}",
    "thought without its beginning": f"a plan ```cuda\nvoid x(\n</think>{BLOCK}",
    "thinking tag": f"<thinking>{DRAFT}</thinking>\n{BLOCK}",
    "only the end of a thought": f"{DRAFT}</think>\n{BLOCK}",
    "inline fence in prose": f"I use ```wgmma``` and ``` twice.\n{BLOCK}",
    "inline code in prose": f"Call `run` with ``x`y``.\n{BLOCK}",
    "fence behind words": f"Here is the kernel: ```cuda\n{CODE}```\nDone.",
    "fence behind words with two backticks left": f"**Final**: ````cpp\n{CODE}````\nDone.",
    "closing fence behind code": f"```cuda\n{CODE.rstrip()}```\n\nDone.",
    "closing fence behind code, shell after it": f"```cuda\n{CODE.rstrip()}```\n\nBuild:\n\n```bash\nnvcc k.cu\n```\n",
    "shell after it": f"{BLOCK}\n```bash\nnvcc -arch=sm_90a k.cu\n```\n",
    "output after it": f"{BLOCK}\nExpected:\n```\nok\n```\n",
    "python after it": f"{BLOCK}\n```python\nimport k\n```\n",
    "diff after it": f"{BLOCK}\n```diff\n-void a();\n+void b();\n```\n",
    "diff before it": f"```diff\n-void a();\n+void b();\n```\n{BLOCK}",
    "json before it": f'```json\n{{"tile": 128}}\n```\n{BLOCK}',
    "latex before it": f"```math\nx^2\n```\n{BLOCK}",
    "mermaid before it": f"~~~mermaid\ngraph TD\n~~~\n{BLOCK}",
    "table before it": f"| a | b |\n|---|---|\n| ``` | x |\n\n{BLOCK}",
    "several drafts": DRAFT * 5 + BLOCK,
    "a draft that is not closed": f"```cuda\n{OLD}\nWait, better:\n\n{BLOCK}",
    "a bare block that is not closed": f"```\nplan\n\nThe kernel:\n{BLOCK}",
    "tildes after backticks": f"{DRAFT}~~~cuda\n{CODE}~~~\n",
    "unclosed last": f"{DRAFT}\n```cuda\n{CODE}",
    "cut in the closing fence": f"```cuda\n{CODE}``",
    "emphasis around the label's line": f"**kernel.cu**\n{BLOCK}",
    "heading before it": f"### `kernel.cu`\n{BLOCK}### Notes\n",
    "rule before it": f"---\n{BLOCK}---\n",
    "answer in a markdown block": f"````markdown\n# Kernel\n{BLOCK}````\n",
    "deeper closing fence": f"```cuda\n{CODE}    ```\n\nDone.",
}


def test_a_block_quote_needs_no_space():
    assert extract(lines(">", DRAFT) + "after", Language.CUDA).code == OLD


@pytest.mark.parametrize("reply", CUDA.values(), ids=CUDA.keys())
def test_a_kernel_is_taken_as_a_person_would(reply):
    code = extract(reply, Language.CUDA).code
    assert code is not None and code.rstrip("`\n") == CODE.rstrip("\n")


FENCE_IN_SOURCE = {
    "block comment": "/*\n```\nrun(X, Y);\n```\n*/\nvoid run() {}\n",
    "block comment with a label": "/* usage:\n```cpp\nrun(X, Y);\n```\n*/\nvoid run() {}\n",
    "comment behind code": "void f(); /* see\n```\n*/\nvoid run() {}\n",
    "raw string": 'const char* help = R"(\n```\nx\n```\n)";\nvoid run() {}\n',
    "raw string with a delimiter": 'auto s = R"md(\n```cuda\n)" )md";\nvoid run() {}\n',
    "line comment": "// ```\n// x\n// ```\nvoid run() {}\n",
    "line comment that ends in a fence": "int a; // as ```x```\nvoid run() {}\n",
    "doxygen": "/**\n * ```\n * run();\n * ```\n */\nvoid run() {}\n",
    "string": 'const char* s = "/*";\nconst char* t = "\\"//";\nvoid run() {}\n',
    "string that is not closed": 'x = "f(\n);\nvoid run() {}\n',
    "character": "char q = '\"';\nchar p = '\\'';\nvoid run() {}\n",
    "digit separators": "int n = 1'000'000;\nvoid run() {}\n",
    "very long line": "const int t[] = {" + "1, " * 200_000 + "};\nvoid run() {}\n",
    "asm with braces": 'asm volatile("{ .reg .pred p; {{ x }} %% }" ::: "memory");\nvoid run() {}\n',
}


@pytest.mark.parametrize("code", FENCE_IN_SOURCE.values(), ids=FENCE_IN_SOURCE.keys())
def test_fences_inside_c_source_belong_to_it(code):
    assert extract(f"Before.\n```cuda\n{code}```\nAfter.\n", Language.CUDA).code == code


PYTHON = {
    "docstring": 'def run(X, Y):\n    """Softmax.\n\n    ```\n    run(X, Y)\n    ```\n    """\n    Y[:] = X\n',
    "docstring with a label": 'def run(X, Y):\n    """\n    ```python\n    run(X, Y)\n    ```\n    """\n    Y[:] = X\n',
    "module docstring": "'''\n```\nrun(X, Y)\n```\n'''\nimport numpy as np\ndef run(X, Y):\n    Y[:] = X\n",
    "module docstring with a label": '"""\n```python\nrun(X, Y)\n```\n"""\ndef run(X, Y):\n    Y[:] = X\n',
    "quotes in a comment": "# don't \"\"\" or '''\ndef run(X, Y):\n    Y[:] = X\n",
    "string that is not closed": 'x = "f(\ndef run(X, Y):\n    Y[:] = X\n',
    "quotes in a string": "a = \"'''\"\nb = '\"\"\"'\ndef run(X, Y):\n    Y[:] = X\n",
}


@pytest.mark.parametrize("code", PYTHON.values(), ids=PYTHON.keys())
@pytest.mark.parametrize("language", [Language.PYTHON, Language.TRITON])
def test_fences_inside_python_docstrings_belong_to_it(code, language):
    assert extract(f"Before.\n```python\n{code}```\nAfter, with '''.\n", language).code == code


@pytest.mark.parametrize(
    ("code", "language"),
    [("/* never ended\nvoid run() {}\n", Language.CPP), ('"""never ended\ndef run(): pass\n', Language.PYTHON)],
)
def test_a_literal_that_never_ends_does_not_swallow_the_answer(code, language):
    label = "cpp" if language is Language.CPP else "python"
    assert extract(f"```{label}\n{code}```\nGood luck.\n", language).code == code


NOTHING = {
    "only thought of": f"<think>{DRAFT}</think>\nI cannot.",
    "words about fences": "I would begin with ``` and end with ```.",
    "a label in prose": "Use `cuda` or ```cuda``` here.",
    "another language behind words": "Run: ```bash\nmake\n```\n",
}


@pytest.mark.parametrize("reply", NOTHING.values(), ids=NOTHING.keys())
def test_what_is_no_answer_is_not_taken(reply):
    assert extract(reply, Language.CUDA).code is None
