"""Code in a page is a file of its own: a ``<!-- snippet: file.cu#anchor -->`` line becomes that file's text, or a part of it.

CUDA files are compiled by the tests; Python files are parsed, and compiled where Triton is installed.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from pathlib import Path

from ptxbench.core.errors import PackError
from ptxbench.packs.page import SNIPPET
from ptxbench.schema.solution import check_relative

_MARK = re.compile(r"^[ \t]*(?://|#)[ \t]*\[/?[\w-]+\][ \t]*$\n?", re.M)


def expand(body: str, folder: Path, where: str) -> str:
    """Return a page's body with each snippet line replaced by fenced code. Raises ``PackError`` for what does not exist."""

    def code(match: re.Match[str]) -> str:
        label = "python" if match["file"].endswith(".py") else "cpp"
        return f"```{label}\n{snippet(folder, match['file'], match['anchor'], where)}```"

    return SNIPPET.sub(code, body)


def snippet_files(body: str) -> Iterator[str]:
    """Yield the files that a page's snippet lines name."""
    for match in SNIPPET.finditer(body):
        yield match["file"]


def snippet(folder: Path, name: str, anchor: str | None, where: str) -> str:
    """Return a snippet's text without its marks and common indent, ended by one newline.

    An anchor's part stands between the lines ``// [anchor]`` and ``// [/anchor]`` (``#`` in Python).
    Raises ``PackError`` for a file or anchor that does not exist.
    """
    try:
        check_relative(name)
        if not (folder / name).resolve().is_relative_to(folder.resolve()):
            raise ValueError("it is a link to elsewhere")
        text = (folder / name).read_text(encoding="utf-8")
    except (OSError, RuntimeError, ValueError) as error:
        raise PackError(
            f"{where}: the snippet {name!r} cannot be read: {error}", next_step="snippets lie below schedules/snippets/"
        ) from error
    if anchor is not None:
        mark = re.escape(anchor)
        begin, end = (rf"^[ \t]*(?://|#)[ \t]*\[{slash}{mark}\][ \t]*" for slash in ("", "/"))
        parts = re.findall(rf"{begin}\n(.*?){end}$", text, re.M | re.S)
        if len(parts) != 1:
            raise PackError(
                f"{where}: {name} has {len(parts)} parts named {anchor!r}",
                next_step=f"put one part between // [{anchor}] and // [/{anchor}]",
            )
        text = parts[0]
    return _unindented(_MARK.sub("", text))


def _unindented(text: str) -> str:
    lines = [line.rstrip() for line in text.splitlines()]
    # A directive stands at the margin of its file, wherever the code around it does.
    directive = [re.match(r"#[ \t]*(?:pragma|if|ifdef|ifndef|else|endif)\b", line) is not None for line in lines]
    margin = min(
        (len(line) - len(line.lstrip()) for line, bare in zip(lines, directive, strict=True) if line and not bare), default=0
    )
    kept = (line if bare else line[margin:] for line, bare in zip(lines, directive, strict=True))
    return "\n".join(kept).strip("\n") + "\n"
