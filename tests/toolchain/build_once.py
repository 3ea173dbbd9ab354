"""Child of the tests: build one source file with a given cache and print how it went as JSON; exit with the error's code."""

from __future__ import annotations

import json
import sys
from pathlib import Path

from ptxbench.core.errors import PtxbenchError
from ptxbench.core.settings import Settings
from ptxbench.toolchain import Builder, locate, read_candidate


def main(cache: str, source: str, arch: str) -> int:
    try:
        settings = Settings(cache_dir=Path(cache))
        result = Builder(settings).build(read_candidate(Path(source), arch=arch))
    except PtxbenchError as error:
        print(json.dumps(error.as_json()))
        return error.exit_code
    build = result.build
    found = {
        "ok": build.ok,
        "cached": build.cached,
        "artifacts": build.artifacts,
        "key": build.key,
        "diagnostics": [record.text for record in build.diagnostics],
        "opcodes": {kernel.name: kernel.opcodes for kernel in build.kernels},
    }
    if arch != "cpu":
        tools = locate(settings)
        found |= {"origin": tools.origin, "root": str(tools.root), "nvdisasm": str(tools.nvdisasm)}
    print(json.dumps(found))
    return 0


if __name__ == "__main__":
    sys.exit(main(*sys.argv[1:]))
