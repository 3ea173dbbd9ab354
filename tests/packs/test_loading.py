"""What the manifest names exists and is what it should be, or an error names it and the nearest thing."""

from __future__ import annotations

import pytest

from ptxbench.core.errors import PackError
from ptxbench.packs import lock
from ptxbench.packs.loading import load


def refusal(data) -> PackError:
    with pytest.raises(PackError) as caught:
        library = load(data.root)
        for pack in library.manifest.packs.values():
            library.fragments(pack, "gemm", "ring")
    return caught.value


def test_groups_and_folders_are_opened_in_order(data):
    library = load(data.root)
    found = [fragment.id for fragment in library.fragments(library.manifest.pack("small"), "gemm", "ring")]
    assert found == [
        "include/ptxk/address", "include/ptxk/barrier", "contracts/barrier-init", "contracts/barrier-wait",
        "debug/hangs", "parameters/latencies", "schedules/ring",
    ]  # fmt: skip


@pytest.mark.parametrize(
    ("old", "new", "says"),
    [
        ('"debug/hangs"', '"debug/hang"', "unknown fragment 'debug/hang'"),
        ('"@headers"', '"@header"', "unknown group '@header'"),
        ("budget_tokens", "budget_token", "packs.small.budget_token: unknown key; did you mean budget_tokens?"),
        ("[groups]", "[group]", "group: unknown key; did you mean groups?"),
        ("guidance = ", "zzz = ", "packs.small.zzz: unknown key; known: title, arch, language, devices, budget_tokens"),
        ("budget_tokens = 4000", "budget_tokens = 0", "budget_tokens"),
        ("schema_version = 1", "schema_version = 2", "schema_version"),
        ('title = "Small"', 'title = "Small', "manifest.toml"),
        ('headers = ["include', 'headers = ["@more", "include', "unknown group '@more'"),
        ('"debug/hangs"', '"../debug/hangs"', "unknown fragment"),
    ],
)
def test_a_wrong_manifest_is_an_error_that_says_where(data, old, new, says):
    data.replace("manifest.toml", old, new)
    error = refusal(data)
    assert says in error.message and error.next_step


def test_groups_that_contain_each_other_are_a_cycle(data):
    data.replace("manifest.toml", 'headers = ["', 'more = ["@headers"]\nheaders = ["@more", "')
    assert "@headers -> @more -> @headers" in refusal(data).message


@pytest.mark.parametrize(
    ("text", "says"),
    [
        ("No front matter.\n", "no front matter"),
        ('+++\nid = "hangs"\n+++\nText.\n', "title"),
        ('+++\nid = "other"\ntitle = "T"\n+++\nText.\n', "its id is 'other'"),
        ('+++\nid = "hangs"\ntitle = "T"\nlevle = "must"\n+++\nText.\n', "levle: unknown key; did you mean level?"),
        ('+++\nid = "hangs"\ntitle = "T"\nlevel = "may"\n+++\nText.\n', "level"),
        ('+++\nid = "hangs"\ntitle = "T"\n+++\n\n', "says nothing"),
    ],
)
def test_a_wrong_page_is_an_error_that_names_the_file_and_the_key(data, text, says):
    data.write("debug/hangs.md", text)
    error = refusal(data)
    assert says in error.message and "debug/hangs.md" in error.message and error.next_step


def test_an_unknown_pack_device_family_or_variant_is_an_error_with_the_nearest(data):
    from ptxbench.packs.render import render

    library = load(data.root)
    for arguments, names in (
        ({"pack_id": "smal"}, "small"),
        ({"pack_id": "small", "device": "h20"}, "h200"),
        ({"pack_id": "small", "family": "gem"}, "gemm"),
        ({"pack_id": "small", "family": "gemm", "variant": "rings"}, "ring"),
        ({"pack_id": "small", "variant": "ring"}, "--family"),
    ):
        with pytest.raises(PackError) as caught:
            render(library, **arguments)
        assert names in (caught.value.next_step or "")


@pytest.mark.parametrize("name", ["manifest.toml", "packs.lock.json", "contracts/barrier-wait.md"])
@pytest.mark.parametrize(
    "text", ["a=" + "[" * 5000, "[" * 100_000, '{"a":' + "9" * 5000 + "}", "+++\na = " + "9" * 5000 + "\n+++\nx\n"]
)
def test_what_no_parser_takes_is_an_error_with_a_next_step(data, name, text):
    (data.root / name).write_text(text)
    with pytest.raises(PackError) as caught:
        library = load(data.root)
        lock.read(library)
        library.fragment("contracts/barrier-wait")
    assert name.rpartition("/")[2] in caught.value.message and caught.value.next_step
