"""The last code block of a reply is found, whatever a model's habits."""

import time

import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

from ptxbench.agent.extract import extract
from ptxbench.schema import Language

CODE = "#include <cstdint>\nvoid run() {}\n"
OTHER = "void old() {}\n"


def fenced(label="cuda", body=CODE, fence="```", indent=""):
    return "".join(f"{indent}{line}\n" for line in [fence + label, *body.rstrip("\n").split("\n"), fence])


FOUND = {
    "cuda": fenced("cuda"),
    "cpp": fenced("cpp"),
    "c++": fenced("c++"),
    "cu": fenced("cu"),
    "c": fenced("c"),
    "upper case": fenced("CUDA"),
    "mixed case": fenced("Cpp"),
    "trailing spaces": fenced("cpp   "),
    "trailing tab": fenced("cpp\t"),
    "space before the label": fenced(" cuda"),
    "trailing words": fenced("cuda title=kernel.cu"),
    "attributes": fenced("cpp {linenos=true}"),
    "attributes without a space": fenced("cpp{1,3}"),
    "file name": fenced("cuda:kernel.cu"),
    "pandoc": fenced("{.cuda .numberLines}"),
    "tildes": fenced("cuda", fence="~~~"),
    "long fence": fenced("cuda", fence="`````"),
    "long tildes": fenced("cuda", fence="~~~~~~"),
    "crlf": fenced("cuda").replace("\n", "\r\n"),
    "old mac line ends": fenced("cuda").replace("\n", "\r"),
    "indented by spaces": fenced("cuda", indent="   "),
    "indented deep": fenced("cuda", indent="      "),
    "indented by a tab": fenced("cuda", indent="\t"),
    "prose around": "Here it is:\n\n" + fenced() + "\nGood luck!",
    "last of two": fenced(body=OTHER) + "better:\n" + fenced(),
    "last of three labels": fenced("cpp", OTHER) + fenced("c", OTHER) + fenced("cuda"),
    "then an empty block": fenced() + "```cuda\n\n```\n",
    "then a shell block": fenced() + fenced("bash", "nvcc kernel.cu"),
    "then an unlabelled block": fenced() + fenced("", "void other() {}"),
    "unclosed": "```cuda\n" + CODE,
    "unclosed without a last newline": "```cuda\n" + CODE.rstrip("\n"),
    "unclosed after a closed one": fenced(body=OTHER) + "```cuda\n" + CODE,
    "forgotten closing fence": "```cuda\n" + OTHER + "no, rather:\n" + fenced(),
    "wrapped in markdown": "```markdown\nSee:\n" + fenced() + "```\n",
    "wrapped in a longer fence": "````text\n" + fenced(body=OTHER) + "````\n" + fenced(),
    "closing fence longer": "```cuda\n" + CODE + "`````\n",
    "closing fence with spaces": "```cuda\n" + CODE + "```   \n",
    "closing fence less indented": "   ```cuda\n   #include <cstdint>\n   void run() {}\n```\n",
    "unlabelled that looks like code": fenced(""),
    "unlabelled beside other labels": fenced("text", "a plan") + fenced(""),
    "inline code with three backticks": "Use ```cuda``` here.\n" + fenced(),
    "quoted fence in prose": "a ``` in the middle\n" + fenced(),
    "blank lines at the end": "```cuda\n" + CODE + "\n\n```\n",
}


@pytest.mark.parametrize("reply", FOUND.values(), ids=FOUND.keys())
@pytest.mark.parametrize("language", [Language.CUDA, Language.CPP])
def test_the_kernel_is_found(reply, language):
    assert extract(reply, language).code == CODE


MISSING = {
    "empty": ("", "empty_reply"),
    "white space": (" \n\t\n", "empty_reply"),
    "prose": ("I cannot do this.", "no_block"),
    "code without a fence": (CODE, "no_block"),
    "two backticks": ("``cuda\nvoid run();\n``", "no_block"),
    "another label": (fenced("bash", "make"), "only_other_labels"),
    "python for cuda": (fenced("python", "import numpy\ndef run(): pass"), "only_other_labels"),
    "unlabelled prose": (fenced("", "the plan is simple"), "only_other_labels"),
    "empty block": ("```cuda\n```\n", "empty_block"),
    "blank block": ("```cuda\n  \n\n```\n", "empty_block"),
    "unclosed at the end": ("```cuda", "empty_block"),
    "a label that only begins like ours": (fenced("cudafoo"), "only_other_labels"),
}


@pytest.mark.parametrize(("reply", "missing"), MISSING.values(), ids=MISSING.keys())
def test_no_code_is_told_with_its_reason(reply, missing):
    found = extract(reply, Language.CUDA)
    assert (found.code, found.index, found.label, found.missing) == (None, None, None, missing)


PYTHON = "import numpy as np\n\ndef run(X, Y):\n    Y[:] = X\n"


@pytest.mark.parametrize("label", ["python", "py", "Python", "PY "])
@pytest.mark.parametrize("language", [Language.PYTHON, Language.TRITON])
def test_python_candidates_come_from_python_blocks(label, language):
    assert extract(fenced("cuda") + fenced(label, PYTHON), language).code == PYTHON


def test_unlabelled_python_is_a_fallback():
    assert extract(fenced("", PYTHON), Language.PYTHON).code == PYTHON
    assert extract(fenced("", "nothing here"), Language.PYTHON).code is None


def test_where_the_block_stands_is_recorded():
    found = extract(fenced("text", "plan") + fenced("cpp", OTHER) + "```CUDA\n" + CODE, Language.CUDA)
    assert (found.index, found.count, found.label, found.unclosed, found.missing) == (2, 3, "cuda", True, None)
    closed = extract(fenced(), Language.CUDA)
    assert (closed.index, closed.count, closed.unclosed) == (0, 1, False)


def test_nested_shorter_fences_are_part_of_the_code():
    body = "/*\n```\nnote\n```\n*/\nvoid run() {}\n"
    assert extract("````cuda\n" + body + "````\n", Language.CUDA).code == body


def test_tildes_do_not_close_backticks():
    body = "// ~~~\n~~~\nvoid run() {}\n"
    assert extract("```cuda\n" + body + "```\n", Language.CUDA).code == body


def test_only_the_fence_s_own_indentation_is_removed():
    reply = "  ```cuda\n  void run() {\n      int x;\n  }\n\n left\n  ```\n"
    assert extract(reply, Language.CUDA).code == "void run() {\n    int x;\n}\n\nleft\n"


LINES = st.sampled_from(
    [
        'x = "f(',
        'R"d(',
        '"',
        "/* ",
        "'''",
        "> ```",
        "- ```c",
        "a ```py",
        "}```",
        "</think>",
        "```",
        "~~~",
        "````",
        "```cuda",
        "~~~c++",
        "  ```cpp",
        "void run() {}",
        "",
        "text",
        "```py",
        "\t```",
    ]
)


@settings(deadline=None)
@given(st.one_of(st.text(), st.lists(LINES).map("\n".join), st.lists(LINES).map("\r\n".join)), st.sampled_from(Language))
@example("\ud800```cuda\n\ud800", Language.CUDA)
def test_no_text_makes_it_raise(text, language):
    found = extract(text, language)
    assert (found.code is None) == (found.missing is not None)
    if found.code is not None:
        assert found.code.strip() and found.code.endswith("\n")
        assert 0 <= found.index < found.count


@settings(deadline=None)
@given(st.text(alphabet="abc {};\n#", min_size=1).filter(lambda s: s.strip()))
def test_a_block_s_text_comes_back_unchanged(body):
    assert extract(f"```cuda\n{body}\n```", Language.CUDA).code == body.rstrip("\n") + "\n"


HOSTILE = {
    "backticks": "`" * 3,
    "fences": "```cuda\n",
    "spaces": " ",
    "open and shut": "```\n~~~\n",
    "fence and info": "```cuda `",
    "void": "void ",
    "line ends": "\r",
    "quotes": '"\\',
    "escaped quotes": '\\"',
    "raw strings": 'R"(',
    "comments": "/*",
    "indented": "   ```cuda\n\n",
    "quoted": "> ",
    "words": "a `",
    "thoughts": "</think>",
}


@pytest.mark.parametrize("unit", HOSTILE.values(), ids=HOSTILE.keys())
def test_megabytes_of_hostile_text_take_linear_time(unit):
    def cpu_seconds(size):
        text = unit * (size // len(unit))
        started = time.process_time()
        extract(text, Language.CUDA)
        for label, language in (("", Language.CUDA), ("cuda", Language.CUDA), ("python", Language.PYTHON)):
            extract(f"```{label}\n{text}", language)
        return time.process_time() - started

    small, large = 1 << 16, 1 << 19
    # Linear is a factor of 8, quadratic 64: half-way apart on a log scale is far from both.
    assert cpu_seconds(large) < 24 * max(cpu_seconds(small), 0.01)
