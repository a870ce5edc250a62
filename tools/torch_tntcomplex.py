"""One training step of TNTComplEx in plain PyTorch on the CPU, to compare ours with.

Sizes of ICEWS14 at rank 156: 7128 entities, 2·230 relations, 365 times, batches of 1000 questions against all
entities; cross entropy, cubes of the rows in use, smoothness of times, Adagrad. Prints milliseconds per step.

    python tools/torch_tntcomplex.py [threads] [rank]
"""
import statistics
import sys
import time

import torch

threads = int(sys.argv[1]) if len(sys.argv) > 1 else 2
rank = int(sys.argv[2]) if len(sys.argv) > 2 else 156
torch.set_num_threads(threads)
torch.manual_seed(1)
N, R, T, B, k = 7128, 460, 365, 1000, rank


def table(rows):
    return torch.nn.Parameter(torch.randn(rows, 2 * k) * 0.01)


entity, moving, still, times = table(N), table(R), table(R), table(T)
optimiser = torch.optim.Adagrad([entity, moving, still, times], lr=0.1)


def parts(rows):
    return rows[:, :k], rows[:, k:]


def size(rows):
    re, im = parts(rows)
    return torch.sqrt(re**2 + im**2)


def step():
    subject, answer = torch.randint(N, (B,)), torch.randint(N, (B,))
    relation, when = torch.randint(R, (B,)), torch.randint(T, (B,))
    s, o, t = entity[subject], entity[answer], times[when]
    (a, b), (c, d) = parts(moving[relation]), parts(t)
    moved = torch.cat([a * c - b * d, b * c + a * d], 1)
    fixed = still[relation]
    (x, y), (u, v) = parts(s), parts(moved + fixed)
    query = torch.cat([x * u - y * v, y * u + x * v], 1)
    loss = torch.nn.functional.cross_entropy(query @ entity.T, answer)
    cubes = sum(w * (size(f) ** 3).sum() for w, f in [(2, s), (1, moved), (1, fixed), (2, o)])
    change = size(times[1:] - times[:-1])
    loss = loss + 0.01 / B * cubes + 0.01 / (T - 1) * (change**3).sum()
    optimiser.zero_grad()
    loss.backward()
    optimiser.step()


for _ in range(5):
    step()
durations = []
for _ in range(40):
    begun = time.perf_counter()
    step()
    durations.append(1000 * (time.perf_counter() - begun))
print(f"rank {k}, {threads} threads: median {statistics.median(durations):.1f} ms, least {min(durations):.1f} ms a step")
