"""What was measured, beside the floor that was measured in the same run, and what is asked of it."""

from collections.abc import Iterable
from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Figure:
    """`ratio`: measured to floor; `met` is None where nothing is asked."""

    what: str
    measured: str
    floor: str = ""
    ratio: float | None = None
    ask: str = ""
    met: bool | None = None


def table(title: str, figures: Iterable[Figure]) -> None:
    """Prints it, as Markdown does."""
    words = {True: "yes", False: "NO", None: ""}
    rows = [("figure", "measured", "floor", "ratio", "ask", "met")]
    rows += [
        (each.what, each.measured, each.floor, f"{each.ratio:.2f}" if each.ratio else "", each.ask, words[each.met])
        for each in figures
    ]
    widths = [max(len(row[at]) for row in rows) for at in range(6)]
    print(f"\n{title}\n")
    for n, row in enumerate(rows):
        print("| " + " | ".join(cell.ljust(width) for cell, width in zip(row, widths, strict=True)) + " |")
        if n == 0:
            print("|" + "|".join("-" * (width + 2) for width in widths) + "|")
