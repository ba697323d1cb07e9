"""Dead letters byte for byte as JoobQ 0.4.2 writes them: key order, formats and scores of its five code paths."""

import json
import re
from datetime import UTC, datetime
from random import Random
from typing import Any, NamedTuple
from uuid import UUID

Job = dict[str, Any]

NO_TIME = 604800  # the score of two of the five paths: a lifetime in seconds, not a time
LIFETIME = 3 * 24 * 3600 * 1000  # ms from its creation until a job expires
KEPT_CHARACTERS = 1000  # of a job that could not be parsed
FRAMES = 20  # lines of a backtrace

# What stands between a job's own code and the worker's fiber in every backtrace.
JOOBQ_FRAMES = """lib/joobq/src/joobq/worker.cr:119:13 in '->'
lib/joobq/src/joobq/middleware.cr:23:11 in 'call_next'
lib/joobq/src/joobq/middleware.cr:21:55 in '->'
lib/joobq/src/joobq/middlewares/timeout.cr:31:27 in 'call'
lib/joobq/src/joobq/middleware.cr:21:11 in 'call_next'
lib/joobq/src/joobq/middleware.cr:21:55 in '->'
lib/joobq/src/joobq/middlewares/retry.cr:11:25 in 'call'
lib/joobq/src/joobq/middleware.cr:21:11 in 'call_next'
lib/joobq/src/joobq/middleware.cr:23:11 in 'call_next'
lib/joobq/src/joobq/middleware.cr:14:7 in 'call'
lib/joobq/src/joobq/worker.cr:118:11 in '->'
/usr/lib/crystal/lib/fiber.cr:146:11 in 'run'
/usr/lib/crystal/lib/fiber.cr:98:34 in '->'
???""".splitlines()


class Letter(NamedTuple):
    """A member of the dead set and its score."""

    score: int
    raw: bytes


class Failure(NamedTuple):
    """What a job raised. `frames`: its own lines of the backtrace, innermost first."""

    error_class: str
    error_type: str
    message: str
    frames: tuple[str, ...]
    cause: str = ""

    @property
    def is_never_retried(self) -> bool:
        return self.error_type in ("validation_error", "configuration_error", "implementation_error")

    @property
    def backtrace(self) -> str:
        lines = f"{self.message} ({self.error_class})".split("\n")
        lines += [f"from {frame}" for frame in (*self.frames, *JOOBQ_FRAMES)]
        if not self.cause:
            return "\n".join(lines[:FRAMES]) + "\n"
        caused = [f"Caused by: {self.cause} (IO::Error)", *(f"from {f}" for f in (*self.frames, *JOOBQ_FRAMES))]
        return "\n".join([*lines, *caused][:FRAMES])


def new_job(jid: UUID, queue: str, max_retries: int, expires: int, arguments: dict[str, Any]) -> Job:
    """A job as it is enqueued; `expires` in unix ms."""
    own = {"jid": str(jid), "queue": queue, "retries": max_retries, "max_retries": max_retries, "expires": expires}
    return {**own, "status": "enqueued", "error": None, **arguments}


def text(job: Job) -> bytes:
    """As Crystal writes JSON: compact, raw beyond ASCII but for DEL; bytes that are no UTF-8 as they came."""
    written = json.dumps(job, ensure_ascii=False, separators=(",", ":")).replace("\x7f", "\\u007f")
    return written.encode("utf-8", "surrogateescape")


def read(raw: bytes) -> Job:
    """The job in these bytes. ValueError when a worker could not read them either."""
    try:
        job = json.loads(raw.decode("utf-8", "surrogateescape"))
        text(job)
    except RecursionError as error:
        raise ValueError("nested too deep") from error
    if not isinstance(job, dict):
        raise ValueError("no object")
    return job


def instant(ms: int) -> str:
    return datetime.fromtimestamp(ms // 1000, UTC).strftime("%Y-%m-%dT%H:%M:%SZ")


def reaped(raw: bytes, at: int) -> Letter:
    """By the reaper of expired jobs, from the list where they wait: the bytes as they lay there."""
    return Letter(at, raw)


class Writer:
    """A worker of one queue, as far as it writes dead letters. Times are unix ms."""

    def __init__(self, queue: str, chance: Random) -> None:
        self.chance = chance
        self.host, self.pid = f"app-{chance.randint(1, 6):02}", chance.randint(900, 32000)
        self.worker_id = f"{queue}-worker-{chance.randint(0, 4)}-{UUID(int=chance.getrandbits(128), version=4)}"

    def retries_used_up(self, job: Job, failure: Failure, at: int) -> Letter:
        dead = {**job, "retries": 0, "status": "dead", "error": self.error({**job, "retries": 0}, failure, at)}
        return Letter(at, text(dead))

    def error_handler(self, job: Job, failure: Failure, at: int) -> Letter:
        """What no retry can mend. With no retry left the same bytes get the time as their score right after."""
        dead = {**job, "status": "dead", "error": self.error(job, failure, at)}
        return Letter(NO_TIME if job["retries"] else at, text(dead))

    def timed_out(self, job: Job, at: int) -> Letter:
        """It had expired when a worker took it."""
        failure = "Job expired after timeout"
        error = self.described(at, failure, f"{failure} (Exception)\n", "", "unknown_error", "Exception", 0)
        context = {**self.surroundings(at), "middleware": "timeout", "reason": "job_expired"}
        error["system_context"] = {**context, "worker_id": self.worker_id}
        return Letter(NO_TIME, text({**job, "status": "retrying", "error": error}))

    def unparseable(self, raw: bytes, queue: str, at: int) -> Letter:
        """The placeholder: the first thing that looks like a jid, and the first 1,000 characters."""
        found = re.search(rb'"jid"\s*:\s*"([^"]*)"', raw)
        jid = (
            found[1].decode("utf-8", "surrogateescape") if found else f"unparseable_{self.chance.getrandbits(64):016x}"
        )
        original = raw.decode("utf-8", "surrogateescape")
        error = self.described(
            at, "Job could not be parsed", "JSON parsing failed", "", "serialization_error", "JSON::Error", 0
        )
        error["system_context"] = {"worker_id": self.worker_id, "original_job_data_length": str(len(original))}
        kept = {"original_job_data": original[:KEPT_CHARACTERS]}
        return Letter(at, text({"jid": jid, "queue": queue, "status": "Dead", "error": error, **kept}))

    def error(self, job: Job, failure: Failure, at: int) -> dict[str, Any]:
        allowed, left = job["max_retries"], job["retries"]
        error_class, error_type, message, _, cause = failure
        error = self.described(at, message, failure.backtrace, cause, error_type, error_class, allowed - left)
        retry = {"middleware": "retry", "max_retries": str(allowed), "current_retries": str(left)}
        attempt = {"retry_attempt": str(allowed - left), "worker_id": self.worker_id}
        error["system_context"] = {**self.surroundings(at), **retry, **attempt}
        return error

    def described(
        self, at: int, message: str, backtrace: str, cause: str, error_type: str, error_class: str, attempts: int
    ) -> dict[str, Any]:
        words = {"failed_at": instant(at), "message": message, "backtrace": backtrace, "cause": cause}
        return {**words, "error_type": error_type, "error_class": error_class, "retry_count": attempts}

    def surroundings(self, at: int) -> dict[str, str]:
        return {
            "queue_workers": "5",
            "queue_running_workers": "5",
            "system_time": instant(at),
            "memory_usage": str(self.chance.randint(20_000_000, 21_500_000)),
            "crystal_version": "1.6.0",
            "hostname": self.host,
            "process_id": str(self.pid),
            "queue_size": str(self.chance.randint(0, 40)),
            "redis_connected": "true",
            "redis_info": "7.0.15",
        }
