"""The page of one request: what happened to it, who holds it and until when, what it carries, what became of its job.

Its times are told by Redis's clock, which alone decides.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Any, NamedTuple

from django.http import HttpRequest, HttpResponse

from joobq_admin import connection
from joobq_admin.connection import dead_letters, redaction
from joobq_admin.joobq import refusals
from joobq_admin.joobq.delivery import Ledger, Record, Seen, State
from joobq_admin.joobq.entry import Entry
from joobq_admin.pages import answer, gate_panel, ledger_names, links, quarantine, reader, times, words
from joobq_admin.pages.entry_page import LONGEST_TEXT, what_is_hidden
from joobq_admin.pages.follow import now_of
from joobq_admin.pages.ledger_page import TONES
from joobq_admin.pages.looked import looked
from joobq_admin.pages.rows import error_of
from joobq_admin.pages.tokens import Tokens, json_pretty, plain

STEPS = (("READY",), ("LEASED",), ("COMPLETED", "DEAD"))
FOOT = "Redis's clock decides, never a worker's. Only the holder can end a lease; an admin can close the gate."
FIRST = ("no", "first", "second", "third", "fourth", "fifth")
FINAL = "{state} is final. A new delivery needs a new request id."


class Fact(NamedTuple):
    name: str
    value: str
    small: str = ""


@dataclass(frozen=True, slots=True)
class Sheet:
    """`steps` and `facts` are those of a record that is whole: of another nobody can say them."""

    id: str
    state: str
    tone: str
    lead: str
    steps: list[tuple[str, bool]]
    facts: list[Fact]


@dataclass(frozen=True, slots=True, kw_only=True)
class Lease:
    """The slip beside the record. `poll`: its state may still change, so it is asked for again and again."""

    ref: str
    at: str
    big: str
    text: str
    url: str
    tone: str = "mute"
    of: int = 0  # seconds that the lease lasts, `left` of them to go
    left: int = 0
    foot: str = ""
    poll: bool = False


@dataclass(frozen=True, slots=True)
class Payload:
    tokens: Tokens
    note: str
    size: str


@dataclass(frozen=True, slots=True)
class Job:
    """What is known of a JoobQ job of the same jid; `none`: how far was looked for it in vain."""

    facts: list[Fact]
    none: str = ""
    dead_url: str = ""


def shown(request: HttpRequest, ledger: Ledger, request_id: str) -> HttpResponse:
    """One request as it is now; for htmx only what changes. Raises TROUBLE."""
    seen, user = ledger.look(request_id), request.user
    quarantined = seen.quarantined
    if seen.record is None:
        return _none(request, ledger, seen)
    context: dict[str, Any] = {
        "title": plain(request_id, 120),
        "l": ledger_names.head(ledger),
        "every": reader.of(request).every,
        "gate": gate_panel.warning(seen.gate, user),
        "r": sheet(seen),
        "lease": lease(ledger, seen) if isinstance(seen.record, Record) and not quarantined else None,
    }
    if answer.wants(request, "lease"):
        return answer.fragment(request, "deliveries/_request_live.html", context)
    if quarantined:
        context |= {"bytes": quarantine.stored_bytes(quarantined), "x": quarantine.review(ledger, quarantined, user)}
    elif isinstance(seen.record, Record):
        context |= {"payload": payload(seen.record), "job": job(ledger, seen.record)}
    return answer.page(request, "deliveries/request.html", context, nav="deliveries")


def _none(request: HttpRequest, ledger: Ledger, seen: Seen) -> HttpResponse:
    """Nothing is kept under this id in this ledger."""
    context = {
        "title": "No such request",
        "l": ledger_names.head(ledger),
        "gate": gate_panel.warning(seen.gate, request.user),
        "id": plain(seen.request_id, 200),
        "at": times.named(times.now()),
        "find_url": links.request(seen.request_id),
        "job_url": links.job(seen.request_id),
    }
    if answer.wants(request, "lease"):
        return answer.fragment(request, "deliveries/_gone.html", context, status=200)
    return answer.page(request, "deliveries/no_request.html", context, status=404, nav="deliveries")


def sheet(seen: Seen) -> Sheet:
    record, name = seen.record, plain(seen.request_id, 600)
    if seen.quarantined or not isinstance(record, Record):
        whole = isinstance(record, Record)
        lead = "Set aside; its bytes decode now" if whole else "The stored record fails its checksum"
        word = "QUARANTINED" if seen.quarantined else "CORRUPT"
        return Sheet(name, word, "bad", lead, steps=[], facts=[])
    return Sheet(
        id=name,
        state=record.state.value,
        tone=TONES[record.state],
        lead=_lead(record, seen.at),
        steps=[(" or ".join(names), record.state.value in names) for names in STEPS],
        facts=_facts(record, seen),
    )


def _lead(record: Record, now: int) -> str:
    claims = f"{_nth(record.attempt)} claim"
    match record.state:
        case State.LEASED if record.lease_until and now >= record.lease_until:
            return f"Its worker did not come back in time, {claims}"
        case State.LEASED:
            return f"A worker holds it, {claims}"
        case State.READY:
            before = f", claimed {_times(record.attempt)} before" if record.attempt else ""
            return f"{'Waits for its time' if record.due_at > now else 'Due, and waits for a worker'}{before}"
        case State.COMPLETED:
            return f"Ended by its worker as completed, {claims}"
    return f"Ended by its worker as dead, {claims}"


def _facts(record: Record, seen: Seen) -> list[Fact]:
    state = record.state
    settled = state in (State.COMPLETED, State.DEAD)
    owner = "who holds it" if state is State.LEASED else "who settled it" if settled else "who settled it last"
    owner = owner if record.owner else "never held, or its lease ran out"
    claims = "claim" if record.attempt == 1 else "claims"
    facts = [
        Fact("State", state.value, _index(record, seen)),
        Fact("Attempt", f"{record.attempt:,}", f"{claims} {'in all' if settled else 'so far'}"),
        Fact("Owner", ledger_names.owner(record.owner, 600) or "nobody", owner),
    ]
    if record.lease_until is not None:
        facts.append(_moment("Lease until", record.lease_until, seen.at))
    if not settled:
        facts.append(_moment("Due at", record.due_at, seen.at))
    facts += [_moment("Admitted", record.admitted_at, seen.at), _moment("Last change", record.updated_at, seen.at)]
    size = words.counted(len(record.payload), "byte")
    facts.append(Fact("Checksum", "agrees", f"header and {size} of payload, checked as read"))
    return [*facts, Fact("traceparent", record.traceparent or "none")]


def _index(record: Record, seen: Seen) -> str:
    """Do the indexes say the same?"""
    ready = record.due_at if record.state is State.READY else None
    leases = record.lease_until if record.state is State.LEASED else None
    if (seen.ready, seen.leases) == (ready, leases):
        index = {State.READY: "in the ready index too", State.LEASED: "in the leases index too"}
        return f"{index[record.state]}, as it should be" if record.state in index else "final: in neither index"
    held = [name for name, score in (("ready", seen.ready), ("leases", seen.leases)) if score is not None]
    where = " and ".join(held) if held else "neither"
    return f"the indexes do not say so (it is in {where}): a repair mends them"


def _moment(name: str, ms: int, now: int) -> Fact:
    at = times.at(ms)
    if at is None:
        return Fact(name, f"{ms} ms", "no time that a calendar knows")
    distance = f"in {times.ahead(ms - now)}" if ms > now else f"{times.ago(now - ms)} ago"
    return Fact(name, _clock(at, _now(now)), distance)


def _clock(at: datetime, now: datetime) -> str:
    """With the zone, in a table of times."""
    return f"{times.clock(at, now)} {times.zone(at)}"


def _now(ms: int) -> datetime:
    return times.at(ms) or times.now()


def lease(ledger: Ledger, seen: Seen) -> Lease:
    """By its state, what comes next."""
    record, now = seen.record, seen.at
    assert isinstance(record, Record)
    more = {"url": ledger_names.request_url(ledger, seen.request_id), "at": f"read {times.named(_now(now))}"}
    again = f"may be claimed as attempt {record.attempt + 1:,}"
    if record.state is State.LEASED and record.lease_until:
        owner, left = ledger_names.owner(record.owner, 200), record.lease_until - now
        if left <= 0:
            text = f"{owner} neither renewed nor settled. The request is due again with the next claim, and {again}."
            return Lease(ref="Lease", big="over", text=text, tone="warn", foot=FOOT, poll=True, **more)
        closed = " While the gate is closed it cannot be renewed." if seen.gate else ""
        lost = f"If it neither renews nor settles by then, the request is due again and {again}."
        lasts = max(1, (record.lease_until - record.updated_at) // 1_000)
        return Lease(
            ref="Lease ends in", big=times.ahead(left), text=f"Held by {owner}. {lost}{closed}", tone="send",
            of=lasts, left=min(lasts, left // 1_000), foot=FOOT, poll=True, **more,
        )  # fmt: skip
    if record.state is State.READY:
        waits = "when the gate is open again" if seen.gate else "that asks"
        due = record.due_at > now
        big = f"in {times.ahead(record.due_at - now)}" if due else f"since {times.ago(now - record.due_at)}"
        text = f"The next worker {waits} {'after that ' if due else ''}may claim it, as attempt {record.attempt + 1:,}."
        return Lease(ref="Due", big=big, text=text, poll=True, **more)
    done = record.state is State.COMPLETED
    at = times.at(record.updated_at)
    big = f"{'Completed' if done else 'Dead'} since {times.clock(at, _now(now))}" if at else record.state.value
    owner = ledger_names.owner(record.owner, 200) or "nobody that is named"
    text = f"Settled by {owner} with attempt {record.attempt:,}."
    foot = FINAL.format(state=record.state.value)
    return Lease(ref="Settled", big=big, text=text, tone="done" if done else "bad", foot=foot, **more)


def payload(record: Record) -> Payload:
    """With redaction, as entries are shown."""
    hidden = redaction().redacted(record.payload)
    tokens, left = json_pretty(hidden, LONGEST_TEXT)
    cut = f"{left:,} more bytes are not shown." if left else ""
    note = " ".join(filter(None, (cut, what_is_hidden(hidden, "record"))))
    return Payload(tokens, note, words.counted(len(record.payload), "byte"))


def job(ledger: Ledger, record: Record) -> Job:
    """Of the jid in the payload, or else of the request's own id: its dead letter, or where it is; one bounded look."""
    inside = Entry(record.payload, 0)
    jid, queue = inside.jid or record.request_id, inside.queue if inside.jid else ledger.queue
    of = "by the jid in the payload" if inside.jid else "by this id as jid"
    try:
        near, seen = dead_letters().near(jid), connection.trace(queue, jid).job
        far = looked(jid, near)
        facts = [_dead(near.entries, of)] if near.entries else []
        if seen.place or seen.processing or seen.delayed:
            facts.append(Fact("Job", *now_of(queue, jid)))
    except connection.TROUBLE as trouble:
        return Job([Fact("Dead letter", "not known", refusals.said(trouble) or "Redis did not answer")])
    if near.entries:
        only = len(near.entries) == 1
        return Job(facts, dead_url=links.entry(near.entries[0].ref) if only else links.job(jid))
    nearest = "" if seen.whole else ", as far as the nearest of them tell"
    none = f"No dead letter, {of}, among {far.at}."
    if not facts:
        none = f"{none} Nor does such a job wait in {plain(queue, 80)}, run, or wait to be retried{nearest}."
    return Job(facts, none)


def _dead(entries: Sequence[Entry], of: str) -> Fact:
    newest = entries[0]
    cls, _ = error_of(newest)
    died = f", died {times.clock(newest.died_at, times.now())}" if newest.died_at else ""
    deaths = f", {len(entries):,} deaths" if len(entries) > 1 else ""
    return Fact("Dead letter", cls, f"{of}{died}{deaths}")


def _nth(n: int) -> str:
    return words.nth(n) if n >= len(FIRST) else FIRST[n]


def _times(n: int) -> str:
    return "once" if n == 1 else f"{n:,} times"
