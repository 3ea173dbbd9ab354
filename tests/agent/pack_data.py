"""A small pack for ``twice_gpu``: one header, one contract, schedules of the family ``elementwise``, two fragments of guidance."""

from ptxbench.packs import load

MANIFEST = """schema_version = 1

[packs.other]
title = "For another target"
arch = "sm_100a"
devices = ["b200"]
budget_tokens = 4000
fragments = ["contracts/"]

[packs.small]
title = "Small"
arch = "sm_90a"
devices = ["h100", "h200"]
budget_tokens = 4000
fragments = ["include/twice", "contracts/"]
guidance = ["guidance/careful", "guidance/bold"]

[packs.small.variants.elementwise]
base = []
ring = ["schedules/ring"]

[packs.small.variants.gemm]
tiles = ["schedules/tiles"]
"""

FILES = {
    "manifest.toml": MANIFEST,
    "include/twice.cuh": "#pragma once\n// Twice as much.\n__device__ float twice(float x) { return 2.0f * x; }\n",
    "contracts/once.md": 'id = "once"\ntitle = "Once"\nlevel = "must"\n+++\nWrite every element once.\n',
    "schedules/ring.md": 'id = "ring"\ntitle = "Ring"\n+++\nGo round in a ring of stages.\n',
    "schedules/tiles.md": 'id = "tiles"\ntitle = "Tiles"\n+++\nCut it into tiles.\n',
    "guidance/careful.md": 'id = "careful"\ntitle = "Careful"\n+++\nWrite the contract block first. See [[once]].\n',
    "guidance/bold.md": 'id = "bold"\ntitle = "Bold"\n+++\nBegin with the mainloop.\n',
}


class PackData:
    """The folder, which a test may change; ``load`` reads it anew."""

    def __init__(self, root):
        self.root = root
        for name, text in FILES.items():
            path = root / name
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_text(f"+++\n{text}" if name.endswith(".md") else text)

    def replace(self, name, old, new):
        path = self.root / name
        text = path.read_text()
        assert old in text
        path.write_text(text.replace(old, new))

    def load(self):
        return load(self.root)
