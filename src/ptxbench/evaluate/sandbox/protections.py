"""Which protections this machine gives against a candidate's process: found out by starting one."""

from __future__ import annotations

from typing import Any

from ptxbench.schema import Flag, Limits


def protections() -> dict[str, bool]:
    """Start a child without a candidate and return, by name, which protections held there.

    Raises ``JudgeError`` when no child can be started at all.
    """
    from ptxbench.evaluate.sandbox.child import Child

    with Child(None, None, Limits()) as child:
        return summarise(child.protections)


def weak_spots(report: dict[str, Any]) -> tuple[Flag, ...]:
    """Return the flag of a child without some protection, nothing for one that has them all."""
    missing = [name for name, holds in summarise(report).items() if not holds]
    return (Flag(code="weak_sandbox", text=f"this machine does not give: {', '.join(missing)}"),) if missing else ()


def summarise(report: dict[str, Any]) -> dict[str, bool]:
    """Turn a child's own report (made before the candidate is loaded) into names and whether they hold."""
    return {
        "resource limits": report.get("limits") is True,
        "no new privileges": report.get("no_new_privs") is True,
        "no root rights": report.get("root") is False or report.get("user") is not None,
        "seccomp": report.get("seccomp") is True,
        "landlock": bool(report.get("landlock")),
    }
