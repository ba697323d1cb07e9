"""The log: one line of JSON for each event, in UTC. Whatever an event holds stays inside its line, escaped."""

import json
import traceback
from contextvars import ContextVar
from datetime import UTC, datetime
from logging import ERROR, LogRecord
from logging import Formatter as PlainFormatter

request_id: ContextVar[str] = ContextVar("request_id", default="")  # of the request that is being answered
STANDARD = LogRecord("", 0, "", 0, "", None, None).__dict__.keys() | {"message", "asctime", "taskName"}


class Formatter(PlainFormatter):
    """at, level, logger, message, the request's id if there is one, whatever `extra` was given; for an exception error
    and (from ERROR up) traceback.
    """

    def format(self, record: LogRecord) -> str:
        line = {
            "at": datetime.fromtimestamp(record.created, UTC).isoformat(timespec="milliseconds"),
            "level": record.levelname.lower(),
            "logger": record.name,
            "message": record.getMessage(),
        }
        if id_ := request_id.get():
            line["request"] = id_
        # Django's extras hold whole requests: with cookies, headers and forms in them
        line |= {k: v for k, v in vars(record).items() if k not in STANDARD and isinstance(v, str | int | float)}
        if record.exc_info and record.exc_info[1]:
            line["error"] = "".join(traceback.format_exception_only(record.exc_info[1])).strip()
            if record.levelno >= ERROR:
                line["traceback"] = self.formatException(record.exc_info)
        return json.dumps(line)
