"""What Redis's errors mean: what it said, why it is silent, and why it changed nothing, as far as that has a name."""

from redis import exceptions

from joobq_admin.joobq.outcome import Refusal

ANSWER_WITHIN = 5.0  # seconds; htmx waits 15

_BY_CLASS: tuple[tuple[type[exceptions.RedisError], Refusal], ...] = (
    (exceptions.NoPermissionError, Refusal.NOT_ALLOWED),
    (exceptions.AuthenticationError, Refusal.NOT_ALLOWED),
    (exceptions.ReadOnlyError, Refusal.READONLY),
    (exceptions.BusyLoadingError, Refusal.LOADING),
    (exceptions.OutOfMemoryError, Refusal.OOM),
    (exceptions.MasterDownError, Refusal.MASTERDOWN),  # to redis-py a kind of the next
    (exceptions.ClusterDownError, Refusal.CLUSTERDOWN),
)
_BY_WORD = (Refusal.BUSY, Refusal.MISCONF, Refusal.NOREPLICAS)  # these have no class

#: What scripts and servers say of a command that this user may not run, or that was renamed away.
_NOT_FOR_US = ("ACL failure", "can't run this command", "nknown command", "Unknown Redis command", "Invalid command")


def refusal_of(reply: object) -> Refusal | None:
    """The name of an error that a server gives before a script has changed anything; None for any other reply."""
    if not isinstance(reply, exceptions.RedisError):
        return None
    for kind, refusal in _BY_CLASS:
        if isinstance(reply, kind):
            return refusal
    text = str(reply)
    if any(words in text for words in _NOT_FOR_US):
        return Refusal.NOT_ALLOWED
    if "Script killed by user" in text:
        return Refusal.KILLED
    return next((refusal for refusal in _BY_WORD if text.startswith(refusal)), None)


def wrong_type(trouble: Exception) -> bool:
    """Is it only that one key is of another type?"""
    return str(trouble).startswith("WRONGTYPE")


def locked(trouble: Exception) -> bool:
    """Is it only that one key is of another type, or not for us to read?"""
    return wrong_type(trouble) or refusal_of(trouble) is Refusal.NOT_ALLOWED


def said(trouble: Exception) -> str:
    """Redis's own words, when it answered that it will not, but for the line of a script; '' when it did not answer."""
    silent = (exceptions.ConnectionError, exceptions.TimeoutError)
    spoke = (exceptions.BusyLoadingError, exceptions.AuthenticationError)  # to redis-py errors of the connection
    if isinstance(trouble, silent) and not isinstance(trouble, spoke):
        return ""
    return str(trouble).partition("\n")[0].partition(" script: ")[0][:200]


def silence(trouble: BaseException) -> str:
    """Why it did not answer, as far as that is known: "Connection refused"."""
    cause: BaseException | None = trouble
    while cause:
        if isinstance(cause, OSError) and cause.strerror:
            return cause.strerror
        cause = cause.__cause__ or cause.__context__
    return f"No answer within {ANSWER_WITHIN:g} s"
