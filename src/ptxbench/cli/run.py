"""``ptxbench run``."""

from __future__ import annotations

import typer

from ptxbench.cli import run_options as options
from ptxbench.cli.console import GLOBALS, progress, wants_json
from ptxbench.schema import Profile

BESIDE_A_PLAN = frozenset(
    {
        "out",
        "backend",
        "dry_run",
        "device",
        "seconds_per_turn",
        "reply_tokens",
        "max_cost",
        "max_total_tokens",
        "max_turns_now",
        "prices",
    }
    | {"accept_changes", "quiet", "json", "plan"}
)
"""Options that stand beside a plan; the others are what the plan itself says."""


def register(application: typer.Typer) -> None:
    """Add the command."""

    @application.command("run")
    def run_models(
        context: typer.Context,
        plan: options.PlanFile = None,
        task: options.Tasks = None,
        model: options.ModelName = None,
        base_url: options.BaseUrl = None,
        arch: options.Arch = None,
        language: options.LanguageName = None,
        variants: options.Variants = None,
        pack: options.Pack = "auto",
        arm: options.Arm = None,
        guidance: options.Guidance = None,
        trajectories: options.Trajectories = 4,
        turns: options.Turns = 8,
        protocol: options.Protocol = Profile.STRICT,
        feedback: options.FeedbackName = options.Feedback.FULL,
        profile_feedback: options.ProfileFeedback = False,
        history: options.HistoryName = options.History.FULL,
        seed: options.Seed = 0,
        target_speedup: options.TargetSpeedup = None,
        temperature: options.Temperature = None,
        top_p: options.TopP = None,
        max_tokens: options.MaxTokens = None,
        reasoning_effort: options.ReasoningEffort = None,
        sampling_seed: options.SamplingSeed = None,
        out: options.Out = None,
        backend: options.Backend = None,
        concurrency: options.Concurrency = 8,
        dry_run: options.DryRun = False,
        device: options.DeviceId = None,
        seconds_per_turn: options.SecondsPerTurn = None,
        reply_tokens: options.ReplyTokens = None,
        max_cost: options.MaxCost = None,
        max_total_tokens: options.MaxTotalTokens = None,
        max_turns_now: options.MaxTurnsNow = None,
        prices: options.PricesFile = None,
        accept_changes: options.AcceptChanges = False,
        quiet: options.Quiet = False,
        json: options.Json = False,
    ) -> None:
        """Measure a model: it writes a kernel per turn and repairs it from feedback.

        The directory resumes by itself after any interruption. Exits 0 when every turn was judged, 3 when a fault of the
        model's endpoint or of this machine left a trajectory incomplete (run the same command again), 4 when a cap was
        reached or turns could not be judged here.

        The endpoint is --base-url or OPENAI_BASE_URL, the key OPENAI_API_KEY (an endpoint of your own may need none).

        Example: ptxbench run --task cpu_gemm_n256_k256 --model openai/NAME --base-url http://127.0.0.1:8000/v1
        """
        as_json = wants_json(json)
        if not dry_run:
            _refuse_rehearsing(device=device, seconds_per_turn=seconds_per_turn, reply_tokens=reply_tokens)
        from ptxbench.agent import RunConfig
        from ptxbench.agent.models.message import Sampling
        from ptxbench.agent.plan import NONE, read_plan
        from ptxbench.agent.prices import read_prices
        from ptxbench.agent.spending import Caps
        from ptxbench.app.checked import checked
        from ptxbench.app.folder_names import default_plan_folder
        from ptxbench.app.jobs import plan_jobs, single_job
        from ptxbench.app.plan_record import keep_plan
        from ptxbench.app.suites import open_suite
        from ptxbench.cli.run_answer import play_jobs, show_rehearsal

        suite = open_suite(GLOBALS.suite, progress)
        known_prices = read_prices(prices)
        caps = {"cost_usd": max_cost, "total_tokens": max_total_tokens, "turns_now": max_turns_now}
        sweep, name = None, ""
        if plan is not None:
            _refuse_beside_plan(context)
            sweep, name = read_plan(plan), plan.stem
            folder = out or default_plan_folder(plan)
            jobs = plan_jobs(sweep, name=name, out=folder, suite=suite, prices=known_prices)
            caps = sweep.caps.model_dump() | {name: value for name, value in caps.items() if value is not None}
        else:
            if not task or model is None:
                missing = "--model" if task else "--task"
                raise typer.BadParameter("is needed, or a PLAN.toml in place of it", param_hint=missing)
            config = checked(
                RunConfig,
                tasks=tuple(dict.fromkeys(task)),
                model=model,
                arch=arch,
                language=language,
                trajectories=trajectories,
                turns=turns,
                target_speedup=target_speedup,
                profile=protocol,
                feedback=feedback.value,
                history=history.value,
                profile_feedback=profile_feedback,
                variants=None if variants is None else tuple(name.strip() for name in variants.split(",") if name.strip()),
                pack=None if pack == NONE else pack,
                arm=arm,
                guidance=guidance,
                seed=seed,
                concurrency=concurrency,
                sampling=checked(
                    Sampling,
                    temperature=temperature,
                    top_p=top_p,
                    max_tokens=max_tokens,
                    reasoning_effort=reasoning_effort,
                    seed=sampling_seed,
                ),
            )
            jobs = [single_job(config, out=out, prices=known_prices, base_url=base_url, backend=backend)]
            folder = jobs[0].folder
        if dry_run:
            show_rehearsal(
                jobs,
                suite,
                seconds_per_turn,
                reply_tokens,
                backend=backend,
                device=device,
                accept_changes=accept_changes,
                as_json=as_json,
            )
            return

        def when_checked() -> None:
            if sweep is not None:
                keep_plan(sweep, jobs, name=name, folder=folder)

        code = play_jobs(
            jobs,
            suite,
            folder=folder,
            plan=None if sweep is None else name,
            caps=checked(Caps, **caps),
            backend=backend,
            accept_changes=accept_changes,
            quiet=quiet,
            as_json=as_json,
            when_checked=when_checked,
        )
        raise typer.Exit(code)


def _refuse_rehearsing(**asked: object) -> None:
    """Refuse options that say something of a rehearsal alone: a run takes its device, times and lengths as it finds them."""
    for name, value in asked.items():
        if value is not None:
            raise typer.BadParameter("is for --dry-run: a run takes what it finds", param_hint=f"--{name.replace('_', '-')}")


def _refuse_beside_plan(context: typer.Context) -> None:
    """Refuse options that a plan has a key for: two places for one thing would leave open which one holds."""
    for name in context.params:
        source = context.get_parameter_source(name)
        if source is not None and source.name == "COMMANDLINE" and name not in BESIDE_A_PLAN:
            raise typer.BadParameter("stands in the plan itself, not beside it", param_hint=f"--{name.replace('_', '-')}")
