"""What a task's prompts carry beside the task: a pack's text for each prompt variant, and an expert-edited fragment."""

from __future__ import annotations

from collections.abc import Sequence
from functools import cache

from ptxbench.agent.config import OWN_PACK, RunConfig
from ptxbench.agent.guidance import Guidance, find_guidance
from ptxbench.core.canonical import content_hash, sha256
from ptxbench.core.errors import UsageError
from ptxbench.packs import Arm, Library, Rendering, evidence, load, render
from ptxbench.packs.guidance import guidance_names
from ptxbench.packs.listing import arm_named
from ptxbench.packs.manifest import BASE, Pack
from ptxbench.schema import Language, Record, Task

PLAIN = "plain"
"""The prompt variant of tasks without a pack: there is no other."""
EVERY = "all"
"""Stands for every variant that a task has."""

installed_packs = cache(load)
"""Returns the packs that come with ptxbench, read once."""


class PackUse(Record):
    """Which knowledge the prompts of a cell carry, as its run directory keeps it."""

    pack: str
    arm: str
    version: str
    """Hash of the whole pack: its entry of the manifest, every fragment of every family, and the evidence."""
    device: str
    """Whose parameters the prompts show: where candidates run, or the pack's first device where nothing runs."""
    family: str | None
    """Problem family whose variants are shown; None where the pack has none for the task."""
    texts: dict[str, str]
    """Prompt variant to the hash of the pack's text in it."""
    guidance: str | None = None
    guidance_hash: str | None = None

    def with_texts_of(self, other: PackUse) -> PackUse:
        """Return this record with what ``other`` shows under the same names; itself where that is the same."""
        texts = {variant: other.texts.get(variant, text) for variant, text in self.texts.items()}
        if (texts, other.guidance_hash) == (self.texts, self.guidance_hash):
            return self
        return self.model_copy(update={"version": other.version, "texts": texts, "guidance_hash": other.guidance_hash})


class Knowledge:
    """One pack, as the prompts of one task show it. Texts are made when they are asked for, each once."""

    def __init__(
        self, library: Library, pack: str, arm: Arm, family: str | None, variants: tuple[str, ...], guidance: Guidance | None
    ) -> None:
        self.pack = pack
        self.arm = arm
        self.family = family
        self.variants = variants
        self.guidance = guidance
        self._library = library
        self._made: dict[tuple[str, str], Rendering] = {}

    def rendering(self, variant: str, device: str | None) -> Rendering:
        """Return the pack's text in a prompt variant; ``device`` is the table's name of where candidates run, None for nowhere."""
        shown = self._shown_device(device)
        key = (variant, shown)
        if key not in self._made:
            self._made[key] = render(self._library, self.pack, device=shown, arm=self.arm, family=self.family, variant=variant)
        return self._made[key]

    def use(self, device: str | None) -> PackUse:
        """Return the record of this knowledge for a device."""
        return PackUse(
            pack=self.pack,
            arm=self.arm.value,
            version=pack_version(self._library, self.pack),
            device=self._shown_device(device),
            family=self.family,
            texts={variant: self.rendering(variant, device).hash for variant in self.variants},
            guidance=self.guidance.id if self.guidance else None,
            guidance_hash=self.guidance.hash if self.guidance else None,
        )

    def _shown_device(self, device: str | None) -> str:
        devices = self._library.manifest.pack(self.pack).devices
        return device if device in devices else devices[0]


def knowledge_for(config: RunConfig, task: Task, language: Language, library: Library) -> Knowledge | None:
    """Return what a run adds to the prompts of a task, None for a task whose prompts carry no pack.

    A run that names no pack takes the task's own: the first pack for its architecture and language. Raises ``UsageError`` for a
    pack, arm, prompt variant or guidance that does not exist, and for a pack that is not for the task.
    """
    name = own_pack(library, task.arch, language) if config.pack == OWN_PACK else config.pack
    if name is None:
        chosen_variants(config.variants, (PLAIN,), task)
        return None
    pack = library.manifest.pack(name)
    if (pack.arch, pack.language) != (task.arch, language):
        raise UsageError(
            f"the pack {name} is for {pack.language} on {pack.arch}, and {task.name} is asked for in {language} on {task.arch}",
            next_step="leave --pack out (each task then has its own, if there is one), or use --pack none",
        )
    family = task.family if task.family in pack.variants else None
    guidance = None if config.guidance is None else find_guidance(library, name, config.guidance)
    arm = Arm.CONTRACTS if config.arm is None else arm_named(config.arm)
    return Knowledge(library, name, arm, family, chosen_variants(config.variants, variants_of(pack, family), task), guidance)


def own_pack(library: Library, arch: str, language: Language) -> str | None:
    """Return the pack that a task has unless another is asked for, None where no pack is for its architecture and language."""
    return next((name for name, pack in library.manifest.packs.items() if (pack.arch, pack.language) == (arch, language)), None)


def variants_of(pack: Pack, family: str | None) -> tuple[str, ...]:
    """Return the prompt variants of a problem family, ``base`` first."""
    return tuple(dict.fromkeys((BASE, *(pack.variants[family] if family is not None else ()))))


def chosen_variants(asked: Sequence[str] | None, known: tuple[str, ...], task: Task) -> tuple[str, ...]:
    """Return which of a task's variants a run plays: the first unless it says more. Raises ``UsageError`` for an unknown one."""
    if asked is None:
        return known[:1]
    if tuple(asked) == (EVERY,):
        return known
    for name in asked:
        if name not in known:
            raise UsageError(
                f"unknown prompt variant {name!r} for {task.name}",
                next_step=f"known: {', '.join(known)}" + ("" if known != (PLAIN,) else " (prompts without a pack have no other)"),
            )
    return tuple(asked)


def check_conditions(config: RunConfig, found: Sequence[Knowledge | None]) -> None:
    """Raise ``UsageError`` for an arm or guidance where no task has a pack: it would be recorded and never shown to a model."""
    if any(one is not None for one in found):
        return
    for name, value in (("arm", config.arm), ("guidance", config.guidance)):
        if value is not None:
            raise UsageError(
                f"--{name} {value} chooses from a pack, and the prompts of these tasks carry none",
                next_step=f"leave --{name} out",
            )


def pack_version(library: Library, name: str) -> str:
    """Return one hash over all that makes a pack's texts, whatever the task: the evidence says how contracts are known."""
    pack = library.manifest.pack(name)
    fragments = {one.id: one.text for family, variant in pack.cells() for one in library.fragments(pack, family, variant)}
    fragments |= {one: library.fragment(one).text for one in guidance_names(library, name).values()}
    texts = {one: sha256(text.encode()) for one, text in fragments.items()}
    return content_hash({"pack": pack.model_dump(mode="json"), "fragments": texts, "evidence": evidence.hashes(library)})
