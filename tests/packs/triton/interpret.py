"""Run the kernels of the Triton schedules in Triton's interpreter on a CPU and print the largest errors as JSON.

Run it with TRITON_INTERPRET=1 and the folder of snippets as argument. Types are float32 and float16: the interpreter has no bf16.
"""

from __future__ import annotations

import importlib.util
import json
import math
import sys
from pathlib import Path

import torch


def module(name):
    spec = importlib.util.spec_from_file_location(name, Path(sys.argv[1]) / f"{name}.py")
    loaded = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(loaded)
    return loaded


def poisoned(*shape, dtype):
    return torch.full(shape, math.nan, dtype=dtype)


def gemms(found):
    gemm = module("gemm")
    for m, n, k in ((64, 64, 64), (100, 136, 72), (32, 256, 8)):
        a, b = (torch.randint(-3, 4, (rows, k)).half() for rows in (m, n))
        wanted = a.float() @ b.float().T
        for name, run in (
            ("grouped", gemm.run_grouped),
            ("persistent", lambda *x, **y: gemm.run(*x, programs=3, special=False, **y)),
        ):
            c = poisoned(m, n, dtype=torch.half)
            run(a, b, c, BM=32, BN=32, BK=32)
            found[f"{name} {m}x{n}x{k}"] = (c.float() - wanted).abs().max().item()


def attention(found):
    forward, backward = module("attention_forward"), module("attention_backward")
    for length in (16, 64, 100):
        for causal in (False, True):
            case, scale = f"{length} {'causal' if causal else 'full'}", 0.3
            q, k, v = (torch.randn(2, 2, length, 32, dtype=torch.double, requires_grad=True) for _ in range(3))
            s = scale * q @ k.transpose(-1, -2)
            if causal:
                s = s.masked_fill(~torch.ones(length, length).tril().bool(), -math.inf)
            o, lse, d_o = torch.softmax(s, -1) @ v, torch.logsumexp(s, -1), torch.randn(2, 2, length, 32)
            o.backward(d_o.double())
            given = [x.detach().float() for x in (q, k, v)]
            for special in (False, True):
                got_o, got_lse = poisoned(*o.shape, dtype=torch.float), poisoned(*lse.shape, dtype=torch.float)
                forward.run(*given, got_o, got_lse, scale, causal, BQ=32, BK=16, special=special)
                found[f"forward {case} {special}"] = max((got_o - o).abs().max().item(), (got_lse - lse).abs().max().item())
            got = [poisoned(*o.shape, dtype=torch.float) for _ in range(3)]
            backward.run(*given, o.detach().float(), d_o, lse.detach().float(), *got, scale, causal, OWN=32, STEP=16)
            found[f"backward {case}"] = max((x - y.grad).abs().max().item() for x, y in zip(got, (q, k, v), strict=True))


if __name__ == "__main__":
    torch.manual_seed(0)
    errors: dict[str, float] = {}
    gemms(errors)
    attention(errors)
    print(json.dumps(errors))
