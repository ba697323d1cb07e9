"""Somebody with a browser that runs no script: cookies, redirects, forms. It trusts any certificate."""

import re
import ssl
from http.cookiejar import CookieJar
from urllib.error import HTTPError
from urllib.parse import urlencode
from urllib.request import HTTPCookieProcessor, HTTPRedirectHandler, HTTPSHandler, Request, build_opener


class Person:
    """Is at `url`, where it got `status`, `headers` and `text`. Paths are of the dashboard at `home`."""

    def __init__(self, home: str) -> None:
        self.home, self.cookies = home, CookieJar()
        self.url, self.status, self.text = "", 0, ""

    def go(self, url: str, form: dict[str, str] | None = None, follow: bool = True, **headers: str) -> "Person":
        way = [HTTPCookieProcessor(self.cookies), HTTPSHandler(context=ssl._create_unverified_context())]
        opener = build_opener(*way, *([] if follow else [Stays()]))
        whole = url if url.startswith("http") else self.home + url
        try:
            answer = opener.open(Request(whole, urlencode(form).encode() if form else None, headers), timeout=15)
        except HTTPError as error:
            answer = error
        with answer:
            self.url, self.status, self.text = answer.url, answer.status, answer.read().decode()
            self.headers = answer.headers
        return self

    def presses(self, path: str, form: dict[str, str] | None = None) -> "Person":
        """With the token of the page at which it is, and from there."""
        token = re.findall(r'name="csrfmiddlewaretoken" value="(\w+)"', self.text)[0]
        return self.go(path, (form or {}) | {"csrfmiddlewaretoken": token}, Referer=self.url)

    def cookie(self, name: str) -> str:
        return next((cookie.value or "" for cookie in self.cookies if cookie.name == name), "")


class Stays(HTTPRedirectHandler):
    def redirect_request(self, *_: object) -> None:
        return None
