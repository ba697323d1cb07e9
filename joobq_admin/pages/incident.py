"""The line above the list when one error makes up most of the last hour."""

from dataclasses import dataclass
from datetime import datetime

from joobq_admin.pages import errors, links, times
from joobq_admin.pages.counts import queue_name
from joobq_admin.triage.lately import Incident


@dataclass(frozen=True, slots=True)
class Line:
    """`share`: in bold; `what`: of which error, where, and since when as far as that is known."""

    share: str
    what: str
    url: str


def line(found: Incident, now: datetime) -> Line:
    of = "the last hour" if found.whole else f"the newest {found.looked:,} of the last hour"
    first = f", first at {times.minute(found.first, now)}" if found.whole else ""
    return Line(
        share=f"{found.percent} % of {of} is one error:",
        what=f"{errors.name(found.error)} in {_queues(found)}{first}.",
        url=links.entries(group=found.error.id),
    )


def _queues(found: Incident) -> str:
    (most, _), *others = found.queues
    if not others:
        return queue_name(most)
    return f"{queue_name(most)} and {len(others):,} other queue{'s' * (len(others) > 1)}"
