"""What a ticket needs to know of an entry, as a few lines of text to paste. Its time is UTC; secrets stay hidden."""

from collections.abc import Sequence

from joobq_admin.joobq.entry import Entry
from joobq_admin.pages.rows import error_of
from joobq_admin.pages.times import When
from joobq_admin.pages.tokens import Tokens

LONGEST_ARGUMENTS = 300  # characters


def summary(
    entry: Entry, title: str, died: When | None, jid: str, arguments: Sequence[tuple[str, Tokens]], link: str
) -> str:
    """All but the entry as its page shows it."""
    cls, message = error_of(entry)
    given = _line(", ".join(f"{name} {''.join(word for _, word in value)}" for name, value in arguments))
    lines = {
        "error": _line(f"{cls}: {message}" if message else cls),
        "died": died.iso if died else "",
        "job": jid,
        "with": given if len(given) <= LONGEST_ARGUMENTS else f"{given[:LONGEST_ARGUMENTS]}…",
        "version": f"sha256 {entry.digest}",
        "link": link,
    }
    return "\n".join([title, *(f"{name:<8} {value}" for name, value in lines.items() if value)])


def _line(text: str) -> str:
    return " ".join(text.split())
