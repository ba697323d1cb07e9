"""Errors by their fingerprints, as pages print them: a class, and a message in which what varies stands aside."""

from joobq_admin.joobq.entry import Kind
from joobq_admin.pages import times
from joobq_admin.pages.tokens import Tokens, plain, text
from joobq_admin.triage.fingerprint import Fingerprint
from joobq_admin.triage.groups import Groups

LONGEST_CLASS, LONGEST_PART = 80, 400  # characters

#: What entries died of that did not fail, or do not say of what.
NO_FAILURE = {
    Kind.MALFORMED: ("Malformed", "Not a JSON object"),
    Kind.PLACEHOLDER: ("Placeholder", "JoobQ could not parse this job"),
    Kind.EXPIRED: ("Expired", "Expired before a worker took it"),
    Kind.JOB: ("No error", "None is told"),
}
NEVER_SENT = (Kind.MALFORMED, Kind.PLACEHOLDER)


def name(error: Fingerprint) -> str:
    return NO_FAILURE[error.kind][0] if error.kind else plain(error.cls, LONGEST_CLASS)


def pattern(error: Fingerprint) -> Tokens:
    """The message; `var` tokens name what stands aside."""
    if error.kind:
        return [("", NO_FAILURE[error.kind][1])]
    printed = Tokens()
    for part in error.parts:
        printed += [("var", part.text)] if part.varies else text(part.text, LONGEST_PART)
    return printed or [("", "No message")]


def in_words(error: Fingerprint) -> str:
    """The same message in one string: 'Error connecting to (host): Connection refused'."""
    return "".join(f"({word})" if kind == "var" else word for kind, word in pattern(error))


def how_sure(found: Groups) -> str:
    """When they were counted, or how far, and whether each number is right."""
    at = times.named(found.as_of)
    if not found.complete:
        return f"counted {found.counted:,} of {found.total:,}"
    return f"at {at}" if found.exact else f"as read while entries were changing, {at}"
