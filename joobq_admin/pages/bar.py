"""The bar above the rows of a page, and the line below them: what is shown, and where to go on."""

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Bar:
    """`back`: the word for the way to newer rows. `end`: why there are no more, and then a link to go on, or `clear`.

    With `continue_url` the look ended before the page was full.
    """

    shown: str
    tail: str = ""  # of it, where there is room
    order: str = ""
    say: str = ""
    undated: str = ""
    undated_url: str = ""
    back: str = "Newer"
    back_url: str = ""
    older_url: str = ""
    end: str = ""
    continue_url: str = ""
    clear: str = ""
    clear_url: str = ""
