"""What a candidate's object and library say: names they import and define, libraries they need, device images they carry."""

from __future__ import annotations

import re
from dataclasses import dataclass
from pathlib import Path

from ptxbench.core.errors import InfrastructureError

_DEVICE_SECTIONS = (".nv_fatbin", ".nvFatBinSegment", "__nv_relfatbin")
_CUBIN = re.compile(rb"\x7fELF\x02\x01[\s\S]{12}\xbe\x00")  # e_machine 190, EM_CUDA
_FATBIN = re.compile(rb"\x50\xed\x55\xba\x01\x00\x10\x00")  # magic, version 1, header of 16 bytes
_PTX = re.compile(rb"\.version\s+\d+\.\d+\s+\.target\s+sm_\d+")
_IMAGES = (("cubin", _CUBIN), ("fatbin", _FATBIN), ("PTX", _PTX))
_ALLOC = 0x2


@dataclass(frozen=True)
class Binary:
    """One ELF file of the candidate's.

    Attributes:
        undefined: names that it imports.
        functions: names of functions that it defines.
        exported: names that it defines for others to see.
        needed: libraries that it needs.
        sections: names of the sections that are loaded.
        images: device images outside the compiler's own sections, as ``kind in section``.
    """

    undefined: tuple[str, ...]
    functions: tuple[str, ...]
    exported: tuple[str, ...]
    needed: tuple[str, ...]
    sections: tuple[str, ...]
    images: tuple[str, ...]


def read_binary(path: Path) -> Binary:
    """Read an object or a shared library. Raises ``InfrastructureError`` for a file that is not ELF (a compiler made it)."""
    from elftools.common.exceptions import ELFError
    from elftools.elf.dynamic import DynamicSection
    from elftools.elf.elffile import ELFFile
    from elftools.elf.sections import SymbolTableSection

    undefined: dict[str, None] = {}
    functions: dict[str, None] = {}
    exported: dict[str, None] = {}
    needed: list[str] = []
    sections: list[str] = []
    images: list[str] = []
    try:
        with path.open("rb") as stream:
            elf = ELFFile(stream)
            linked = elf.get_section_by_name(".dynsym") is not None
            for section in elf.iter_sections():
                if isinstance(section, SymbolTableSection):
                    dynamic = section.name == ".dynsym"
                    if linked and not dynamic:
                        continue  # A library's static table repeats the dynamic one, with versions in the names.
                    for symbol in section.iter_symbols():
                        if not symbol.name:
                            continue
                        if symbol["st_shndx"] == "SHN_UNDEF":
                            undefined[symbol.name] = None
                            continue
                        if symbol["st_info"]["type"] == "STT_FUNC":
                            functions[symbol.name] = None
                        if dynamic:
                            exported[symbol.name] = None
                elif isinstance(section, DynamicSection):
                    needed += [str(tag.needed) for tag in section.iter_tags("DT_NEEDED")]  # type: ignore[attr-defined]
                if section["sh_flags"] & _ALLOC:
                    sections.append(section.name)
                    if section["sh_type"] == "SHT_PROGBITS" and not section.name.startswith(_DEVICE_SECTIONS):
                        data = section.data()
                        images += [f"{kind} in {section.name}" for kind, pattern in _IMAGES if pattern.search(data)]
    except (ELFError, OSError) as error:
        raise InfrastructureError(f"cannot read {path.name}: {error}") from error
    return Binary(*(tuple(names) for names in (undefined, functions, exported, needed, sections, images)))
