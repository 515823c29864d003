"""Certified epsilon of composed sampled Gaussians, here and in Google's dp_accounting.

Needs `pip install dp-accounting`. Run from the root of the crate:

    python benches/accounting/compare.py [binary]

It runs the same tasks in dp_accounting and in `cargo bench --package benches --bench accounting`, or
in a binary built from benches/accounting/main.rs, and prints a table. Times are the best of several
runs. The width of dp_accounting is that between its pessimistic and its optimistic estimate; the time
is that of the pessimistic one alone.
"""

import logging
import math
import subprocess
import sys
import time

from dp_accounting.pld import privacy_loss_distribution as pld

# It warns, for each launch, that its optimistic estimate is another algorithm.
logging.disable(logging.WARNING)

STEPS, RATE, BLOCK = 3650, 0.01, 150


def identical():
    return [(1.0, STEPS)]


def schedule():
    parts = []
    for start in range(0, STEPS, BLOCK):
        sigma = 1.5 + math.sin(math.pi / STEPS * (start + BLOCK))
        parts.append((sigma, min(BLOCK, STEPS - start)))
    return parts


def composed(parts, pessimistic):
    whole = None
    for sigma, count in parts:
        one = pld.from_gaussian_mechanism(
            sigma,
            sampling_prob=RATE,
            pessimistic_estimate=pessimistic,
            value_discretization_interval=1e-4,
        ).self_compose(count)
        whole = one if whole is None else whole.compose(one)
    return whole


def theirs(parts, delta):
    best = math.inf
    for _ in range(3):
        start = time.perf_counter()
        upper = composed(parts, True).get_epsilon_for_delta(delta)
        best = min(best, time.perf_counter() - start)
    try:
        lower = composed(parts, False).get_epsilon_for_delta(delta)
    except (NotImplementedError, ValueError) as error:
        print(f"dp_accounting has no optimistic estimate here: {error}", file=sys.stderr)
        lower = math.nan
    return lower, upper, best


def ours():
    """The lines of the bench: name, delta, bounds, seconds."""
    command = sys.argv[1:] or ["cargo", "bench", "--quiet", "--package=benches", "--bench=accounting"]
    lines = subprocess.run(command, capture_output=True, text=True, check=True).stdout
    for line in lines.splitlines():
        words = line.split()
        if len(words) == 5 and "/" in words[0]:
            yield words[0], float(words[1]), *map(float, words[2:])


def main():
    tasks = {
        ("identical", 1e-5): identical(),
        ("schedule", 1e-5): schedule(),
        ("schedule", 1e-6): schedule(),
    }
    reference = {key: theirs(parts, key[1]) for key, parts in tasks.items()}
    print(f"{'task':>10} {'delta':>6} {'step':>6} {'lower':>10} {'upper':>10} {'width':>9} {'seconds':>8} {'times':>6}")
    for (task, delta), (lower, upper, seconds) in reference.items():
        print(f"{task:>10} {delta:6g} {'theirs':>6} {lower:10.6f} {upper:10.6f} {upper - lower:9.2e} {seconds:8.4f}")
    for name, delta, lower, upper, seconds in ours():
        task, step = name.split("/")
        times = reference[task, delta][2] / seconds
        print(f"{task:>10} {delta:6g} {step:>6} {lower:10.6f} {upper:10.6f} {upper - lower:9.2e} {seconds:8.4f} {times:6.1f}")


if __name__ == "__main__":
    main()
