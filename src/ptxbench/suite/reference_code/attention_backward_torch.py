"""Attention backward from the forward's O and log-sum-exp: cuDNN on a GPU, plain float32 elsewhere."""

import math

import torch

CAUSAL = False


def run(
    Q: torch.Tensor, K: torch.Tensor, V: torch.Tensor, O: torch.Tensor, dO: torch.Tensor, L: torch.Tensor
) -> tuple[torch.Tensor, torch.Tensor, torch.Tensor]:
    """Return dQ, dK, dV [B, H, S, D] in the type of Q. L [B, H, S] is the forward's natural log-sum-exp in float32."""
    scale = 1.0 / math.sqrt(Q.shape[-1])
    if Q.is_cuda:
        no_dropout = torch.zeros((), dtype=torch.int64, device=Q.device)
        rows, columns = Q.shape[2], K.shape[2]
        dQ, dK, dV = torch.ops.aten._scaled_dot_product_cudnn_attention_backward(
            dO, Q, K, V, O, L.unsqueeze(-1), no_dropout, no_dropout, None, None, None, rows, columns, 0.0, CAUSAL, scale=scale
        )  # fmt: skip
        return dQ.contiguous(), dK.contiguous(), dV.contiguous()
    q, k, v, do = Q.float(), K.float(), V.float(), dO.float()
    scores = torch.matmul(q, k.transpose(-1, -2)) * scale
    if CAUSAL:
        scores = scores.masked_fill(torch.ones(scores.shape[-2:], dtype=torch.bool).triu(1), -math.inf)
    P = torch.exp(scores - L.unsqueeze(-1))
    delta = (O.float() * do).sum(dim=-1, keepdim=True)
    dS = P * (torch.matmul(do, v.transpose(-1, -2)) - delta) * scale
    dQ = torch.matmul(dS, k)
    dK = torch.matmul(dS.transpose(-1, -2), q)
    dV = torch.matmul(P.transpose(-1, -2), do)
    return dQ.to(Q.dtype), dK.to(Q.dtype), dV.to(Q.dtype)
