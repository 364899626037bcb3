"""What the benchmarks share: how to compare two ways of doing the same work."""

from collections.abc import Callable
from statistics import median
from timeit import Timer
from typing import Any, TypeVar

Benchmark = TypeVar("Benchmark", bound=Callable[[], float])
Work = str | Callable[[], object]


def ratio(
    ours: Work, theirs: Work, names: dict[str, Any] | None = None, *, rounds: int = 31
) -> float:
    """Give how many times longer `ours` takes than `theirs`: the median over all rounds.

    The two take turns, a millisecond or so each, in one process. A machine that is slower than
    usual, or changes its clock, then slows both alike and the ratio stays, where times measured
    apart would drift apart. The median drops the rounds in which something interrupted one of
    them. timeit switches the garbage collector off meanwhile.

    Work given as a string is compiled into the timing loop, over `names`, and pays for no function
    call: use it for work of less than a microsecond.
    """
    our_timer, their_timer = Timer(ours, globals=names), Timer(theirs, globals=names)
    number = _calls_per_millisecond(their_timer)
    our_timer.timeit(number)  # caches warm, bytecode specialised
    ratios = []
    for _ in range(rounds):
        # Ours in the middle of two of theirs, so that a steady drift cancels.
        before, our_time, after = (
            timer.timeit(number) for timer in (their_timer, our_timer, their_timer)
        )
        ratios.append(2 * our_time / (before + after))
    return median(ratios)


def budget(limit: float) -> Callable[[Benchmark], Benchmark]:
    """Mark a benchmark as a ratio that should stay at or below `limit`."""

    def mark(benchmark: Benchmark) -> Benchmark:
        benchmark.unit = "ratio"
        benchmark.budget = limit
        return benchmark

    return mark


def _calls_per_millisecond(timer: Timer) -> int:
    number = 1
    while timer.timeit(number) < 1e-3:
        number *= 2
    return number
