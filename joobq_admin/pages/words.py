"""Words that many pages share. Of each refusal `{detail}` is what the port found; a heading follows "Refused:"."""

from collections.abc import Sequence
from dataclasses import dataclass

from django.conf import settings

from joobq_admin.joobq import keys
from joobq_admin.joobq.outcome import Refusal, Refused
from joobq_admin.sso.roles import Action, Role, User

CUT = "It would come back as a placeholder, cut at 1,000 characters."
AGAIN_THEN_PURGE = "Enqueue it anew with {what} mended. Then purge this."
ENGINEER = "This needs an engineer."


@dataclass(frozen=True, slots=True)
class Words:
    """`again`: trying again may do."""

    heading: str
    text: str
    next: str = ""
    again: bool = False


REFUSALS = {
    Refusal.NOT_AN_OBJECT: Words(
        "not a JSON object",
        "These bytes do not read as one JSON object. No worker could run them and they name no queue.",
        "Keep a copy of the exact bytes, then purge it.",
    ),
    Refusal.NOT_STRICT_JSON: Words(
        "a worker could not read it",
        f"Redis reads these bytes, a worker would not: {{detail}}. {CUT}",
        AGAIN_THEN_PURGE.format(what="that"),
    ),
    Refusal.PLACEHOLDER: Words(
        "a placeholder",
        "JoobQ could not parse this job and kept the first 1,000 characters of its text. "
        "Sent as it is, it would be lost or run as an empty job.",
        "Copy the original text, mend it and enqueue it anew. Then purge this.",
    ),
    Refusal.BAD_FIELD: Words(
        "{detail}",
        "A worker wants retries and max_retries as 32-bit integers, expires as an integer and a status it knows. "
        "It would come back as a placeholder.",
        AGAIN_THEN_PURGE.format(what="the field"),
    ),
    Refusal.JID_NOT_UUID: Words(
        "its jid is no UUID",
        "A worker logs such a job and drops it: it would be lost, with no dead letter.",
        "Enqueue it anew with a UUID. Then purge this.",
    ),
    Refusal.NO_QUEUE: Words(
        "it names no queue",
        "A job goes to its own queue and nowhere else, and this one has none.",
        "Enqueue it anew where it belongs. Then purge this.",
    ),
    Refusal.RESERVED_QUEUE: Words(
        "its queue is one of JoobQ's own keys",
        "It names the queue {detail}. Nothing is ever sent to a name that begins with joobq:",
        "Find out who enqueued it. Purge it if it is not wanted.",
    ),
    Refusal.QUEUE_NAME: Words(
        "its queue's name cannot be used",
        "The name holds a control character or is longer than 512 bytes.",
        "Find out who enqueued it. Purge it if it is not wanted.",
    ),
    Refusal.SAME_JOB: Words(
        "one action, one copy",
        "One action sends one copy of a job. {detail}; this one is still here.",
        "Purge it when the job went well.",
    ),
    Refusal.NOT_A_LIST: Words(
        "queue {queue} is not a list",
        "The Redis key for this queue holds a {detail}, so a job cannot be added to it. "
        "The entry is still here, unchanged.",
        ENGINEER,
        again=True,
    ),
    Refusal.DEAD_BROKEN: Words(
        "there are no dead letters to change",
        f"The key {keys.DEAD.decode()} is of another type. Nothing was changed.",
        ENGINEER,
        again=True,
    ),
    Refusal.AUDIT_BROKEN: Words(
        "the audit log cannot be written",
        f"The key {keys.AUDIT.decode()} is of another type. Nothing is changed without a record, so nothing was.",
        ENGINEER,
        again=True,
    ),
    Refusal.BIN_BROKEN: Words(
        "the bin cannot be written",
        "A key of the bin is of another type or holds what is not ours. Nothing was changed.",
        ENGINEER,
        again=True,
    ),
    Refusal.BIN_FULL: Words(
        "the bin is full",
        "{room} of purged entries are kept. Nothing was purged.",
        "An admin can purge for good, or empty the bin.",
        again=True,
    ),
    Refusal.NOT_ALLOWED: Words(
        "Redis does not allow it",
        "The Redis user of this dashboard may not make every change that this needs. Nothing was changed.",
        ENGINEER,
        again=True,
    ),
}
BY_SERVER = Words("Redis takes no changes now", "Redis said {reason}. Nothing was changed.", "Try again.", again=True)
NO_DETAIL = {
    Refusal.BAD_FIELD: "a field is not of its type",
    Refusal.NOT_A_LIST: "value of another type",
    Refusal.SAME_JOB: "Another death of it was tried",
}
OF_A_LEDGER = {
    Action.REPAIR: "Repairing a ledger",
    Action.EXPIRE: "Ending leases",
    Action.CLOSE_GATE: "Closing a gate",
    Action.OPEN_GATE: "Opening a gate",
    Action.PRUNE: "Pruning receipts",
    Action.RELEASE: "Releasing or discarding a record",
    Action.DISCARD: "Releasing or discarding a record",
}


def refusal(refused: Refused, queue: str) -> Words:
    """`queue` and the detail are text that may be shown."""
    reason = refused.reason
    words = BY_SERVER if reason.by_server else REFUSALS[reason]
    detail = refused.detail or NO_DETAIL.get(reason, "its text")
    told = {"detail": detail, "queue": queue, "reason": reason.value, "room": f"{settings.BIN_MB:,} MB"}
    return Words(words.heading.format(**told), words.text.format(**told), words.next, words.again)


def reads_only(what: str = "entry") -> str:
    return f"You can read this {what}, not act on it"


def may_not(user: User, action: Action = Action.REDRIVE) -> str:
    """Why somebody who reads an entry finds no button there, or pressed one in vain."""
    what = "Redrive and purge need" if action.role is Role.OPERATOR else f"{str(action).capitalize()} needs"
    if action in OF_A_LEDGER:
        what = f"{OF_A_LEDGER[action]} needs"
    return f"Your role is {user.role}. {what} {action.role}.{ask()}"


def nobody_changes() -> str:
    return f"This dashboard is set so that nobody changes anything.{ask()}"


def ask() -> str:
    """Whom, for rights; a sentence that begins with a blank, or nothing."""
    return f" Ask {settings.SUPPORT_CONTACT}." if settings.SUPPORT_CONTACT else ""


def counted(n: int, one: str, many: str = "") -> str:
    """'1 record', '2,000 records', '2 index entries'."""
    return f"{n:,} {one if n == 1 else many or f'{one}s'}"


def nth(place: int) -> str:
    """'1st', '22nd', '113th'."""
    ending = "th" if 11 <= place % 100 <= 13 else {1: "st", 2: "nd", 3: "rd"}.get(place % 10, "th")
    return f"{place:,}{ending}"


def joined(names: Sequence[str], most: int) -> str:
    """'A', 'A and B', 'A, B and 4 others': at most so many."""
    if len(names) > most:
        names = [*names[: most - 1], f"{len(names) - most + 1} others"]
    return " and ".join(filter(None, [", ".join(names[:-1]), *names[-1:]]))
