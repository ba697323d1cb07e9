"""How one reader wants pages to look, remembered by their browser: cookies. One that holds no choice counts as none."""

from collections.abc import Callable, Collection, Mapping
from dataclasses import dataclass
from functools import cache
from importlib.resources import files
from typing import Any, NamedTuple
from zoneinfo import ZoneInfo

from django.conf import settings
from django.core.exceptions import BadRequest
from django.http import HttpRequest, HttpResponse
from django.utils import timezone

from joobq_admin.pages import times

A_YEAR = 365 * 86_400  # seconds


@cache
def zones() -> frozenset[str]:
    """Every time zone by its name, old names too, since browsers say those: by the tzdata that we bring along."""
    return frozenset(files("tzdata").joinpath("zones").read_text("ascii").split())


#: By the name of its cookie; '' is always one: as the system or the dashboard has it.
CHOICES: Mapping[str, Callable[[], Collection[str]]] = {
    "theme": lambda: ("light", "dark"),
    "density": lambda: ("compact",),
    "keys": lambda: ("off",),
    "news": lambda: ("1", "15", "60", "off"),
    "zone": zones,
}


class Switch(NamedTuple):
    """One choice among few, as buttons: value, label, and whether it is the one."""

    name: str
    label: str
    buttons: list[tuple[str, str, bool]]


@dataclass(frozen=True, slots=True)
class Reader:
    theme: str = ""
    density: str = ""
    keys: str = ""
    news: str = ""
    zone: str = ""

    @property
    def looks(self) -> list[Switch]:
        return [
            self._switch("theme", "Theme", {"": "System", "light": "Light", "dark": "Dark"}),
            self._switch("density", "Rows", {"": "Roomy", "compact": "Compact"}),
        ]

    @property
    def single_keys(self) -> Switch:
        return self._switch("keys", "Single-key shortcuts", {"": "On", "off": "Off"})

    @property
    def looks_for_news(self) -> Switch:
        """How often a list that stands open asks what is new."""
        every = {"1": "Every second", "": "Every 5 s", "15": "Every 15 s", "60": "Every minute", "off": "Never"}
        return self._switch("news", "Look for new entries", every)

    @property
    def every(self) -> str:
        """Seconds from one look of a page that stands open to the next; '' = it does not look."""
        return "" if self.news == "off" else self.news or "5"

    @property
    def times_in(self) -> str:
        return times.zone_in_full(times.now())

    def _switch(self, name: str, label: str, buttons: Mapping[str, str]) -> Switch:
        return Switch(name, label, [(value, word, value == getattr(self, name)) for value, word in buttons.items()])


def of(request: HttpRequest) -> Reader:
    """What their browser remembers."""
    kept = {name: request.COOKIES.get(name, "") for name in CHOICES}
    return Reader(**{name: value for name, value in kept.items() if value and value in CHOICES[name]()})


def chosen(request: HttpRequest) -> dict[str, str]:
    """What a form chooses, by name: one or several. Raises BadRequest."""
    posted: Any = request.POST
    given = {name: posted[name] for name in CHOICES if name in posted}
    for name, value in given.items():
        if value and value not in CHOICES[name]():
            raise BadRequest(f"“{value[:80]}” is none of {name}.")
    if not given:
        raise BadRequest("This form chooses nothing.")
    return given


def remember(response: HttpResponse, given: Mapping[str, str]) -> None:
    for name, value in given.items():
        if value:
            response.set_cookie(name, value, max_age=A_YEAR, secure=settings.SECURE, httponly=True, samesite="Lax")
        else:
            response.delete_cookie(name, samesite="Lax")


def in_their_zone(get_response: Callable[[HttpRequest], HttpResponse]) -> Callable[[HttpRequest], HttpResponse]:
    """Middleware: what `times` says to this request, it says in the zone that its reader chose."""

    def answer(request: HttpRequest) -> HttpResponse:
        zone = of(request).zone
        with timezone.override(ZoneInfo(zone) if zone else None):
            return get_response(request)

    return answer
