"""C[M,N] = A[M,K] B[N,K]^T in bf16: a block a tile in grouped order, and blocks that stay and walk tiles."""

import triton
import triton.language as tl


# [order]
@triton.jit
def place(tile, tiles_m, tiles_n, GROUP: tl.constexpr):
    """Return row and column of a tile: GROUP rows of tiles are walked together, column by column."""
    per_group = GROUP * tiles_n
    first = tile // per_group * GROUP
    height = tl.minimum(tiles_m - first, GROUP)
    inside = tile % per_group
    return first + inside % height, inside // height


# [/order]


# [grouped]
@triton.jit
def grouped(a, b, c, M, N, K, BM: tl.constexpr, BN: tl.constexpr, BK: tl.constexpr, GROUP: tl.constexpr):
    row, column = place(tl.program_id(0), tl.cdiv(M, BM), tl.cdiv(N, BN), GROUP)
    m, n, k = row * BM + tl.arange(0, BM), column * BN + tl.arange(0, BN), tl.arange(0, BK)
    total = tl.zeros((BM, BN), tl.float32)
    for step in range(tl.cdiv(K, BK)):
        inside = k < K - step * BK
        left = tl.load(a + m[:, None] * K + (step * BK + k)[None, :], mask=(m < M)[:, None] & inside[None, :], other=0.0)
        right = tl.load(b + n[:, None] * K + (step * BK + k)[None, :], mask=(n < N)[:, None] & inside[None, :], other=0.0)
        total = tl.dot(left, right.T, total)
    tl.store(c + m[:, None] * N + n[None, :], total.to(c.dtype.element_ty), mask=(m < M)[:, None] & (n < N)[None, :])


# [/grouped]


# [persistent]
@triton.jit
def persistent(A, B, C, M, N, K, BM: tl.constexpr, BN: tl.constexpr, BK: tl.constexpr, GROUP: tl.constexpr, WS: tl.constexpr):
    a = tl.make_tensor_descriptor(A, [M, K], [K, 1], [BM, BK])
    b = tl.make_tensor_descriptor(B, [N, K], [K, 1], [BN, BK])
    c = tl.make_tensor_descriptor(C, [M, N], [N, 1], [BM, BN // 2])
    tiles_m, tiles_n = tl.cdiv(M, BM), tl.cdiv(N, BN)
    for tile in tl.range(tl.program_id(0), tiles_m * tiles_n, tl.num_programs(0), warp_specialize=WS):
        row, column = place(tile, tiles_m, tiles_n, GROUP)
        total = tl.zeros((BM, BN), tl.float32)
        for step in range(tl.cdiv(K, BK)):
            total = tl.dot(a.load([row * BM, step * BK]), b.load([column * BN, step * BK]).T, total)
        # Two stores of half the columns: half the shared memory, so that another stage fits.
        left, right = tl.split(tl.permute(tl.reshape(total, (BM, 2, BN // 2)), (0, 2, 1)))
        c.store([row * BM, column * BN], left.to(c.dtype))
        c.store([row * BM, column * BN + BN // 2], right.to(c.dtype))


def run(A, B, C, programs=132, BM=128, BN=256, BK=64, special=True):
    (M, K), N = A.shape, B.shape[0]
    triton.set_allocator(lambda size, alignment, stream: C.new_empty(size))  # room for the descriptors
    grid = (min(programs, triton.cdiv(M, BM) * triton.cdiv(N, BN)),)
    persistent[grid](A, B, C, M, N, K, BM, BN, BK, GROUP=8, WS=special, num_warps=4 if special else 8, num_stages=3)


# [/persistent]


def run_grouped(A, B, C, BM=128, BN=256, BK=64):
    (M, K), N = A.shape, B.shape[0]
    grid = (triton.cdiv(M, BM) * triton.cdiv(N, BN),)
    grouped[grid](A, B, C, M, N, K, BM, BN, BK, GROUP=8, num_warps=8, num_stages=3)
