"""What a page says, links to and sends: read from its HTML as a person or a browser would."""

import re
from functools import lru_cache
from html import unescape
from html.parser import HTMLParser
from typing import Any

from django.http import HttpResponse
from django.test import Client


class _Reader(HTMLParser):
    """Elements in order, and the words between them; what is in a <template> is not on the page."""

    def __init__(self) -> None:
        super().__init__()
        self.elements: list[tuple[str, dict[str, str]]] = []
        self.words: list[str] = []
        self.asleep = 0

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.asleep += tag == "template"
        if not self.asleep:
            self.elements.append((tag, {name: value or "" for name, value in attrs}))
            self.words.append(" ")

    def handle_endtag(self, tag: str) -> None:
        self.asleep -= tag == "template"

    def handle_data(self, data: str) -> None:
        if not self.asleep:
            self.words.append(data)


def read(response: HttpResponse) -> _Reader:
    return _read(response.content.decode())


@lru_cache(maxsize=16)  # a test asks a page many things
def _read(page: str) -> _Reader:
    reader = _Reader()
    reader.feed(page)
    return reader


def says(response: HttpResponse) -> str:
    """All its words in one line."""
    return " ".join("".join(read(response).words).split())


def elements(response: HttpResponse, tag: str, **attributes: str) -> list[dict[str, str]]:
    """The attributes of each such element: elements(page, "a", rel="next")."""
    wanted = {name.rstrip("_").replace("_", "-"): value for name, value in attributes.items()}
    found = (given for name, given in read(response).elements if name == tag)
    return [given for given in found if wanted.items() <= given.items()]


def rows(response: HttpResponse) -> list[str]:
    """The addresses of the entries of a list, in their order."""
    return [link["href"] for link in elements(response, "a", class_="open")]


def link(response: HttpResponse, label: str) -> str:
    """Where the link of this label leads; AssertionError when there is none."""
    awake = re.sub(r"<template\b.*?</template>", "", response.content.decode(), flags=re.DOTALL)
    found = re.findall(r"<a\b[^>]*?\shref=\"([^\"]*)\"[^>]*>((?:(?!</a>).)*)</a>", awake, re.DOTALL)
    told = {" ".join(unescape(re.sub(r"<[^>]*>", " ", inner)).split()): unescape(href) for href, inner in found}
    assert label in told, f"no link {label!r} among {sorted(told)}"
    return told[label]


def hidden(response: HttpResponse) -> dict[str, str]:
    """The hidden fields of the slip's form."""
    named = {given["name"]: given.get("value", "") for given in elements(response, "input", type="hidden")}
    return {name: value for name, value in named.items() if name not in ("csrfmiddlewaretoken", "next")}


def press(client: Client, entry: str, form: dict[str, str], htmx: bool = True, **more: Any) -> HttpResponse:
    """POSTs the form of the slip that stood at the address `entry`."""
    headers = {"HX-Request": "true", "HX-Target": "action"} if htmx else {}
    return client.post(f"{entry.partition('?')[0].rstrip('/')}/redrive", form, headers=headers, **more)


def get(client: Client, url: str, target: str = "") -> HttpResponse:
    """`target`: as htmx asks for the element of this id."""
    return client.get(url, headers={"HX-Request": "true", "HX-Target": target} if target else {})
