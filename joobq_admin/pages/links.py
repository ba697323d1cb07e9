"""Where things are. Names in Redis may hold anything, so what a link could not carry is left out of it."""

import re
from urllib.parse import quote, urlencode, urlsplit

from django.conf import settings
from django.urls import reverse

from joobq_admin.joobq.asked import is_operation_id
from joobq_admin.joobq.entry import EntryRef, score_text, to_bytes

Link = tuple[str, str, str]  # URL, label, class of the button

LONGEST_JID = 256  # characters in a link or a form field; the rest of a reference does without
_in_a_path = re.compile(r"[A-Za-z0-9][A-Za-z0-9._:-]*").fullmatch


def is_plain(jid: str) -> bool:
    """Can this jid travel in links and form fields? They carry it only to find its entry sooner."""
    return 0 < len(jid) <= LONGEST_JID and jid.isprintable()


def entry(ref: EntryRef, base: str = "") -> str:
    """`base`: the URL of the list, for many rows of one page."""
    jid = f"?jid={quote(ref.jid, safe='')}" if ref.jid and is_plain(ref.jid) else ""
    return f"{base or reverse('entries')}{score_text(ref.score)}-{ref.digest[:16]}/{jid}"


def press(ref: EntryRef, action: str) -> str:
    """`action`: redrive or purge."""
    return f"{reverse('entries')}{score_text(ref.score)}-{ref.digest[:16]}/{action}"


def exact_bytes(ref: EntryRef) -> str:
    url = entry(ref)
    return f"{url}{'&' if '?' in url else '?'}bytes=1"


def queue(name: str, **more: str) -> str:
    """The list of one queue; '' = of entries without a queue name; `more`: of its query."""
    return entries(**({"queue": name} if name else {"unknown": "1"}), **more)


def entries(**query: str) -> str:
    """The list, with what is not empty of the query. Bytes that are no UTF-8 stay as they are."""
    told = {name: to_bytes(value) for name, value in query.items() if value}
    return reverse("entries") + (f"?{urlencode(told)}" if told else "")


def purge_all(queue: str | None) -> str:
    """Of one queue ('' = of what names none), or None = of everything."""
    of = {"everything": "1"} if queue is None else {"queue": to_bytes(queue)} if queue else {"unknown": "1"}
    return f"{reverse('purge-all')}?{urlencode(of)}"


def bin(**query: str) -> str:
    """The bin, with what is not empty of the query."""
    told = {name: value for name, value in query.items() if value}
    return reverse("bin") + (f"?{urlencode(told)}" if told else "")


def job(jid: str, **query: str) -> str:
    if _in_a_path(jid) and not query:
        return reverse("job", args=[jid])
    return f"{reverse('jobs')}?{urlencode({'jid': to_bytes(jid), **query})}"


def operation(operation: str, action: str = "", ref: EntryRef | None = None) -> str:
    """`ref`, with all 64 hex digits: what to look for when the operation is recorded nowhere."""
    if not is_operation_id(operation):  # a record that this dashboard did not write
        return reverse("audit")
    query = {"action": action, "entry": tick(ref)} if ref else {}
    return reverse("operation", args=[operation]) + (f"?{urlencode(query)}" if query else "")


def ledger(namespace: str, queue: str, view: str = "ledger", **query: str) -> str:
    """One ledger, one request of it (view="request"), or what is done there (view="repair")."""
    told = {"namespace": namespace, "queue": queue, **query}
    return f"{reverse(view)}?{urlencode({name: to_bytes(value) for name, value in told.items() if value})}"


def request(id_: str) -> str:
    """One request, in whichever ledger it is."""
    return f"{reverse('request')}?{urlencode({'id': to_bytes(id_)})}"


def tick(ref: EntryRef) -> str:
    """One entry in one word."""
    jid = f"-{ref.jid}" if ref.jid and is_plain(ref.jid) else ""
    return f"{score_text(ref.score)}-{ref.digest}{jid}"


def absolute(url: str) -> str:
    """For sending to somebody. The settings say where readers find us; no header does."""
    parts = urlsplit(settings.PUBLIC_URL)
    return f"{parts.scheme}://{parts.netloc}{url}"
