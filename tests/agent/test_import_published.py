"""Tables of published turns: read strictly, told by line, and written as run directories, whole or not at all."""

import csv
import io
import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

from ptxbench.agent.engine.ledger import EndStep, TurnStep, read_steps
from ptxbench.agent.engine.manifest import MANIFEST_NAME, read_manifest
from ptxbench.agent.imports.directory import write_directories
from ptxbench.agent.imports.published import COLUMNS, LABELS, MOST_PROBLEMS, read_published
from ptxbench.core.errors import UsageError

ROW = {
    "model": "Some Model 1.0",
    "arch": "hopper",
    "definition": "gemm_n7168_k5120",
    "workload_uuid": "94920358-01a8-4c5b-9209-3103fd490e94",
    "run": "some-gemm",
    "trajectory": "exp_000",
    "turn": "0",
    "reasoning_tokens": "1200",
    "outcome": "Correct",
    "speedup": "0.5",
    "source_arch_tag": "H",
    "target_instruction": "1",
}
SOURCES = Path(__file__).parents[2] / "src"

ON_A_SMALL_DISK = """
import resource, signal, sys
from pathlib import Path
from ptxbench.agent.imports.directory import write_directories
from ptxbench.agent.imports.published import read_published
from ptxbench.core.errors import StorageError

read = read_published(Path(sys.argv[1]))
signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
resource.setrlimit(resource.RLIMIT_FSIZE, (500, 500))
try:
    write_directories(read, Path(sys.argv[2]))
except StorageError as error:
    print(error.message)
"""
"""An import where no file can be longer than 500 bytes, in place of a full disk."""

WRONG = {"outcome": "Runtime error", "speedup": "0.0", "source_arch_tag": "", "target_instruction": "0"}


def text_of(rows, columns=COLUMNS):
    stream = io.StringIO()
    writer = csv.DictWriter(stream, columns, lineterminator="\n")
    writer.writeheader()
    writer.writerows(rows)
    return stream.getvalue()


@pytest.fixture
def table(tmp_path):
    def write(*changes, text=None, data=None):
        path = tmp_path / "turns.csv"
        content = text if text is not None else text_of([ROW | change for change in changes])
        path.write_bytes(content.encode() if data is None else data)
        return path

    return write


def umask():
    mask = os.umask(0)
    os.umask(mask)
    return mask


def refusal(path):
    with pytest.raises(UsageError) as caught:
        read_published(path)
    return caught.value


def test_every_label_of_the_source_has_its_outcome(table):
    labels = [label for label in LABELS if label != "Correct"]
    path = table({}, *(WRONG | {"outcome": label, "turn": str(n)} for n, label in enumerate(labels, 1)))
    assert {turn.turn: turn.outcome.value for turn in read_published(path).turns} == dict(
        enumerate(
            [
                *("correct", "wrong_value", "compile_error", "runtime_error", "timeout", "no_code"),
                *("other_error", "sanitize_timeout", "profiling_service_timeout"),
            ]
        )
    )


def test_columns_may_stand_in_any_order_and_lines_end_as_they_like(table):
    text = text_of([ROW | {"reasoning_tokens": "7.0"}], columns=[*reversed(COLUMNS)]).replace("\n", "\r\n")
    (turn,) = read_published(table(data=b"\xef\xbb\xbf" + text.encode())).turns
    assert (turn.model, turn.speedup, turn.source_arch_tag, turn.target_instruction) == ("Some Model 1.0", 0.5, "H", True)
    assert turn.reasoning_tokens == 7


@pytest.mark.parametrize(
    ("header", "told"),
    [
        ([name for name in COLUMNS if name != "speedup"], "lacks 'speedup'"),
        ([*COLUMNS, "variant"], "has 'variant'"),
        ([*COLUMNS, "turn"], "repeats 'turn'"),
        (["Speedup" if name == "speedup" else name for name in COLUMNS], "lacks 'speedup' and has 'Speedup'"),
    ],
)
def test_other_columns_are_refused_by_name(table, header, told):
    assert told in refusal(table(text=",".join(header) + "\n")).message


@pytest.mark.parametrize(
    ("change", "told"),
    [
        ({"arch": "ampere"}, "arch: Input should be 'hopper' or 'blackwell'"),
        ({"outcome": "correct"}, "outcome: 'correct' is none of Correct, Numerical error"),
        ({"outcome": ""}, "outcome: '' is none of"),
        ({"turn": "-1"}, "turn: '-1' is not a whole number"),
        ({"turn": "1.0"}, "turn: '1.0' is not a whole number"),
        ({"turn": "10000"}, "turn: 10000 is no turn"),
        ({"turn": ""}, "turn: '' is not a whole number"),
        ({"reasoning_tokens": "1.5"}, "reasoning_tokens: '1.5' is not a whole number"),
        ({"reasoning_tokens": "many"}, "reasoning_tokens: 'many' is not a whole number"),
        ({"speedup": "nan"}, "speedup: 'nan' is not a number of at least 0"),
        ({"speedup": "1e999"}, "speedup: '1e999' is not a number of at least 0"),
        ({"speedup": "-0.5"}, "speedup: '-0.5' is not a number of at least 0"),
        ({"speedup": ""}, "speedup: '' is not a number of at least 0"),
        ({"target_instruction": "yes"}, "target_instruction: 'yes' is neither 0 nor 1"),
        ({"model": " "}, "model: is empty"),
        ({"run": "a\tb"}, "run: 'a\\tb' is no name"),
        ({"run": "x" * 301}, "is no name"),
        (WRONG | {"speedup": "0.5"}, "a turn that is not correct cannot have a speedup"),
        (WRONG | {"target_instruction": "1"}, "a turn that is not correct cannot have target_instruction 1"),
    ],
)
def test_a_wrong_cell_is_told_with_its_line_and_column(table, change, told):
    error = refusal(table({}, {"turn": "1"} | change))
    assert error.message.startswith("turns.csv:3: ") and told in error.message
    assert error.exit_code == 2 and error.next_step


def test_lines_are_counted_as_an_editor_counts_them(table):
    lines = text_of([ROW, ROW | {"turn": "1", "run": "two\nlines"}, ROW | {"turn": "x"}]).split("\n")
    lines.insert(1, "")
    told = refusal(table(text="\n".join(lines))).details["problems"]
    assert [one.split(": ")[0] for one in told] == ["turns.csv:4", "turns.csv:6"]


def test_a_row_with_too_few_or_too_many_fields_is_told(table):
    header, row, _ = text_of([ROW]).split("\n")
    told = refusal(table(text="\n".join([header, row, row.rpartition(",")[0], row + ",1", ""]))).details["problems"]
    assert told == ["turns.csv:3: has 11 fields, not 12", "turns.csv:4: has 13 fields, not 12"]


def test_turns_that_occur_again_are_refused_with_the_list(table):
    error = refusal(table({}, {"turn": "1"}, {"speedup": "0.7"}, {"turn": "1", "model": "Another"}))
    assert error.details["problems"] == [
        "turns.csv:4: turn 0 of trajectory exp_000 of run some-gemm occurs again (first in line 2)",
        "turns.csv:5: turn 1 of trajectory exp_000 of run some-gemm occurs again (first in line 3)",
    ]
    assert error.message.endswith("(and 1 more)")


def test_a_table_that_is_wrong_throughout_is_not_read_to_its_end(table):
    error = refusal(table(*({"turn": "x"} for _ in range(5 * MOST_PROBLEMS))))
    assert len(error.details["problems"]) == MOST_PROBLEMS


@pytest.mark.parametrize(
    ("data", "told"),
    [
        (b"", "is empty"),
        (b"\n\n", "is empty"),
        (text_of([]).encode(), "holds no turn"),
        (text_of([ROW]).encode("utf-16"), "is not UTF-8"),
        (text_of([ROW]).encode()[:-2] + b'"half', "is no CSV"),
    ],
)
def test_what_is_no_table_is_refused(table, data, told):
    assert told in refusal(table(data=data)).message


def test_a_file_that_is_not_there_or_no_file_is_refused(tmp_path):
    assert "cannot be read" in refusal(tmp_path / "none.csv").message
    assert "cannot be read" in refusal(tmp_path).message


def test_what_the_table_does_not_say_stays_unknown(table, tmp_path):
    path = table({}, WRONG | {"turn": "1", "reasoning_tokens": ""}, WRONG | {"turn": "2", "outcome": "Sanitize Timeout"})
    (cell,) = write_directories(read_published(path), tmp_path / "out", turns=3)
    right, wrong, foreign = [step.row for step in read_steps(cell.folder) if isinstance(step, TurnStep)]
    assert (right.key.model, right.key.arch, right.key.device) == ("Some Model 1.0", "sm_90a", "h100")
    assert right.correct.paper is True and right.correct.strict is None and right.trusted_speedup == 0.5
    assert (right.variant, right.candidate_us, right.cost_usd, right.seconds) == (None, None, None, {})
    assert set(right.hashes.model_dump().values()) == {None}
    assert right.proof is not None and right.proof.status == "unknown"
    assert (right.proof.compute, right.proof.source_tag, right.proof.source_target) == (None, "H", True)
    assert (right.tokens.reasoning, wrong.tokens.reasoning, right.tokens.output) == (1200, None, None)
    assert (wrong.blame, foreign.blame, right.blame) == ("candidate", None, None)
    assert wrong.speedup is None and wrong.correct.paper is False


def test_a_correct_turn_without_a_latency_has_no_speedup(table, tmp_path):
    (cell,) = write_directories(read_published(table({"speedup": "0.0"})), tmp_path / "out")
    (row,) = [step.row for step in read_steps(cell.folder) if isinstance(step, TurnStep)]
    assert row.outcome == "correct" and row.speedup is None


def test_trajectories_that_end_early_are_not_reached_from_there_on(table, tmp_path):
    path = table({}, {"turn": "1"}, {"trajectory": "exp_001"}, {"trajectory": "exp_001", "turn": "3"})
    (cell,) = write_directories(read_published(path), tmp_path / "out", turns=4)
    ends = [step for step in read_steps(cell.folder) if isinstance(step, EndStep)]
    assert [(end.place.trajectory, end.turn, end.reason) for end in ends] == [("exp_000", 2, "unrecorded")]
    assert (cell.turns, cell.trajectories, cell.shortened, cell.lost) == (4, 2, 1, 2)


def test_a_run_with_longer_trajectories_was_planned_for_its_longest(table, tmp_path):
    path = table(*({"turn": str(n)} for n in range(10)), {"run": "other"})
    longer, other = write_directories(read_published(path), tmp_path / "out")
    assert [read_manifest(cell.folder).config["turns"] for cell in (longer, other)] == [10, 8]


def test_the_manifest_says_where_the_turns_come_from_and_no_path(table, tmp_path):
    read = read_published(table({}))
    (cell,) = write_directories(read, tmp_path / "out")
    imported = read_manifest(cell.folder).imported
    assert imported is not None and imported.model_dump() == {
        "form": "published",
        "table": "turns.csv",
        "sha256": read.sha256,
        "rows": 1,
        "baseline": "cuBLAS 13.1.0",
    }
    assert str(tmp_path) not in (cell.folder / MANIFEST_NAME).read_text()


def test_every_run_has_a_folder_of_its_own_whatever_it_is_called(table, tmp_path):
    names = ["plain-1.0_a", "../up", "a/b", "..", ".hidden", "with space", "été", "x" * 120, "-dash"]
    out = tmp_path / "out"
    cells = write_directories(read_published(table(*({"run": name} for name in names))), out)
    assert [cell.key.run for cell in cells] == names and cells[0].folder == out / "plain-1.0_a"
    assert {path.name for path in out.iterdir()} == {cell.folder.name for cell in cells}
    assert len({cell.folder.resolve() for cell in cells}) == len(names)
    assert all(cell.folder.resolve().parent == out.resolve() and (cell.folder / MANIFEST_NAME).is_file() for cell in cells)


def test_a_run_over_several_tasks_becomes_several_directories(table, tmp_path):
    path = table({}, {"definition": "mha_bwd_d128", "trajectory": "exp_001"}, {"arch": "blackwell", "trajectory": "exp_002"})
    cells = write_directories(read_published(path), tmp_path / "out")
    assert len({cell.folder for cell in cells}) == 3 and {cell.key.run for cell in cells} == {"some-gemm"}
    baselines = [read_manifest(cell.folder).imported.baseline for cell in cells]
    assert baselines == ["cuBLAS 13.1.0", "cuDNN 9.20.0", "cuBLAS 13.1.0"]


@pytest.mark.parametrize("there", ["file", "folder with something in it"])
def test_an_out_that_holds_something_is_left_as_it_is(table, tmp_path, there):
    read, out = read_published(table({})), tmp_path / "out"
    if there == "file":
        out.write_text("mine")
    else:
        (out / "mine").mkdir(parents=True)
    before = sorted(tmp_path.rglob("*"))
    with pytest.raises(UsageError, match="not an empty folder"):
        write_directories(read, out)
    assert sorted(tmp_path.rglob("*")) == before


@pytest.mark.parametrize("there", ["nothing", "an empty folder", "a link to one"])
def test_nothing_but_the_runs_is_left_in_out_and_beside_it(table, tmp_path, there):
    out = tmp_path / "deep" / "out"
    if there != "nothing":
        (tmp_path / "real").mkdir()
        out.parent.mkdir()
        (tmp_path / "real").rename(out) if there == "an empty folder" else out.symlink_to(tmp_path / "real")
    write_directories(read_published(table({}, {"run": "other"})), out)
    assert [path.name for path in out.parent.iterdir()] == ["out"]
    assert sorted(path.name for path in out.iterdir()) == ["other", "some-gemm"]
    assert {path.stat().st_mode & 0o777 for path in (out, *out.iterdir())} == {0o777 & ~umask()}


def test_the_folder_that_one_stands_in_can_be_filled(table, tmp_path, monkeypatch):
    path = table({})
    (tmp_path / "here").mkdir()
    monkeypatch.chdir(tmp_path / "here")
    (cell,) = write_directories(read_published(path), Path())
    assert cell.folder == Path("some-gemm") and read_manifest(cell.folder).run == "some-gemm"


def test_a_disk_that_fails_leaves_nothing_behind(table, tmp_path):
    path = table({}, {"run": "other"})
    environment = {**os.environ, "PYTHONPATH": os.pathsep.join(filter(None, (str(SOURCES), os.environ.get("PYTHONPATH"))))}
    command = [sys.executable, "-c", ON_A_SMALL_DISK, path, tmp_path / "out"]
    done = subprocess.run(command, capture_output=True, text=True, timeout=60, env=environment)
    assert done.stdout.startswith(f"cannot write {tmp_path}"), done.stderr
    assert [path.name for path in tmp_path.iterdir()] == ["turns.csv"]


def test_the_same_table_gives_the_same_journal(table, tmp_path):
    read = read_published(table({}, {"turn": "1"}, WRONG | {"trajectory": "b"}))
    first, again = (write_directories(read, tmp_path / name)[0].folder / "journal.jsonl" for name in ("first", "again"))
    assert first.read_bytes() == again.read_bytes()
    assert all(json.loads(line) for line in first.read_text().splitlines())
