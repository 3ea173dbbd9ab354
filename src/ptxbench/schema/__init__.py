"""Every record of ptxbench: FlashInfer-Trace's (byte-compatible) and ours. One file per record."""

from ptxbench.schema.base import PROTOCOL_VERSION, SCHEMA_VERSION, Record, TraceRecord
from ptxbench.schema.build import Build, Diagnostic, KernelBuild, ToolchainVersions
from ptxbench.schema.candidate import Candidate, Source
from ptxbench.schema.correctness import Correctness, InputSetCheck, MismatchPattern, OutputCheck, WorstElement
from ptxbench.schema.counters import Counters, KernelCounters, Stall
from ptxbench.schema.definition import ConstAxis, Definition, TensorSpec, VarAxis
from ptxbench.schema.evaluation import CorrectVerdict, Device, Evaluation, Flag, Hashes
from ptxbench.schema.failure import RunFailure, StuckThreads
from ptxbench.schema.latency import Baseline, Clocks, Latency, ReferenceVersion
from ptxbench.schema.outcome import Blame, ImportedOutcome, Language, Outcome, Profile
from ptxbench.schema.pace import Pace
from ptxbench.schema.policy import PolicyVerdict, Violation
from ptxbench.schema.proof import ExecutedCount, KernelProof, Proof, ProofMethod
from ptxbench.schema.sanitizer import Checker, Sanitizer, SanitizerFinding
from ptxbench.schema.solution import Solution, SolutionSpec, SourceFile
from ptxbench.schema.task import Limits, Reference, Sampler, SuiteWorkload, Task, TaskSpec, Tolerance
from ptxbench.schema.trace import Trace, TraceEvaluation, TraceStatus
from ptxbench.schema.turn import CellKey, TokenCount, Turn, TurnHashes, TurnProof
from ptxbench.schema.workload import RandomInput, SafetensorsInput, ScalarInput, Workload

__all__ = [
    "PROTOCOL_VERSION", "SCHEMA_VERSION", "Baseline", "Blame", "Build", "Candidate", "CellKey", "Checker", "Clocks", "ConstAxis",
    "CorrectVerdict", "Correctness", "Counters", "Definition", "Device", "Diagnostic", "Evaluation", "ExecutedCount", "Flag",
    "Hashes", "ImportedOutcome", "InputSetCheck", "KernelBuild", "KernelCounters", "KernelProof", "Language", "Latency", "Limits",
    "MismatchPattern", "Outcome", "OutputCheck", "Pace", "PolicyVerdict", "Profile", "Proof", "ProofMethod", "RandomInput",
    "Record", "Reference", "ReferenceVersion", "RunFailure", "SafetensorsInput", "Sampler", "Sanitizer", "SanitizerFinding",
    "ScalarInput", "Solution", "SolutionSpec", "Source", "SourceFile", "Stall", "StuckThreads", "SuiteWorkload", "Task",
    "TaskSpec", "TensorSpec", "TokenCount", "Tolerance", "ToolchainVersions", "Trace", "TraceEvaluation", "TraceRecord",
    "TraceStatus", "Turn", "TurnHashes", "TurnProof", "VarAxis", "Violation", "Workload", "WorstElement",
]  # fmt: skip
