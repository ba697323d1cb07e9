"""A small OpenID provider on loopback that asks nobody for a password, and signs whatever a test wants."""

import hashlib
import json
import threading
import time
from base64 import b64decode, urlsafe_b64encode
from collections.abc import Callable
from functools import cache
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from secrets import token_urlsafe
from typing import Any
from urllib.parse import parse_qsl, unquote_plus, urlencode, urlsplit
from urllib.request import urlopen

import jwt
from cryptography.hazmat.primitives.asymmetric import ec, rsa
from jwt.algorithms import ECAlgorithm, RSAAlgorithm

CLIENT, SECRET = "joobq-admin", "a secret / of + this client: only tests know it"
LOGOUT = {"http://schemas.openid.net/event/backchannel-logout": {}}
ADA = {"sub": "u-ada", "name": "Ada Łukasiewicz 李", "groups": ["admins", "staff"]}
VERA = {"sub": "u-vera", "name": "Vera", "groups": ["viewers"]}
Claims = dict[str, Any]


@cache
def signing_key(name: str) -> Any:
    """A private key; one that is called es… is of an elliptic curve."""
    if name.startswith("es"):
        return ec.generate_private_key(ec.SECP256R1())
    return rsa.generate_private_key(public_exponent=65537, key_size=1024 if name == "short" else 2048)


def public(name: str, kid: str = "", **more: Any) -> dict[str, Any]:
    """As a key set holds it."""
    algorithm = ECAlgorithm if name.startswith("es") else RSAAlgorithm
    return {**algorithm.to_jwk(signing_key(name).public_key(), as_dict=True), "kid": kid or name, "use": "sig", **more}


def signed(claims: Claims, key: str = "k1", algorithm: str = "", **header: Any) -> str:
    """A header of None is left out."""
    named = {"kid": key} | header
    kept = {name: value for name, value in named.items() if value is not None}
    return jwt.encode(claims, signing_key(key), algorithm or ("ES256" if key.startswith("es") else "RS256"), kept)


def part(value: object) -> str:
    """A part of a token."""
    text = value if isinstance(value, bytes) else json.dumps(value).encode()
    return urlsafe_b64encode(text).rstrip(b"=").decode()


class Provider:
    """`user`: the claims of whoever signs in. `signs`: makes the id token of the claims. Its `url` is the issuer.

    `spoilt`: path, or * for all -> how it fails: 503, 429, html, hang, reset, redirect, huge. `seen`: path, and form or
    query, of each request.
    """

    def __init__(self) -> None:
        self.user: Claims = ADA
        self.signs: Callable[[Claims], object] = signed
        self.keys = [public("k1")]
        self.more: Claims = {}  # of the discovery document
        self.answers: Claims = {}  # beside code and state
        self.userinfo: Claims = {}
        self.spoilt: dict[str, str] = {}
        self.seen: list[tuple[str, dict[str, str]]] = []
        self.codes: dict[str, dict[str, str]] = {}
        self.waits: Callable[[], object] = lambda: None  # before it lets a browser go back
        self.closing = threading.Event()
        self.server = ThreadingHTTPServer(("127.0.0.1", 0), type("Handler", (Handler,), {"provider": self}))
        self.url = f"http://127.0.0.1:{self.server.server_port}"
        threading.Thread(target=self.server.serve_forever, args=(0.01,), daemon=True).start()

    def close(self) -> None:
        self.closing.set()
        self.server.shutdown()
        self.server.server_close()

    def count(self, path: str) -> int:
        return sum(seen == path for seen, _ in self.seen)

    def visit(self, address: str) -> str:
        """As a browser that follows no redirect: where it is led to."""
        with urlopen(f"{address}&and_say_it=1") as answer:
            return str(json.load(answer)["to"])

    def discovery(self) -> Claims:
        paths = {"authorization_endpoint": "/authorize", "token_endpoint": "/token", "jwks_uri": "/keys"}
        paths |= {"userinfo_endpoint": "/userinfo", "end_session_endpoint": "/end"}
        return {"issuer": self.url, **{name: self.url + path for name, path in paths.items()}, **self.more}

    def authorize(self, asked: dict[str, str]) -> str:
        assert asked["response_type"] == "code", asked
        assert asked["client_id"] == CLIENT
        assert asked["code_challenge_method"] == "S256"
        assert "openid" in asked["scope"].split()
        self.codes[code := token_urlsafe(8)] = asked
        given = {"code": code, "state": asked["state"], **self.answers}
        return f"{asked['redirect_uri']}?{urlencode({k: v for k, v in given.items() if v is not None})}"

    def token(self, form: dict[str, str], authorization: str) -> tuple[int, Claims]:
        pair = b64decode(authorization.removeprefix("Basic ")).decode() if authorization else ""
        given = (
            tuple(map(unquote_plus, pair.split(":", 1))) if pair else (form.get("client_id"), form.get("client_secret"))
        )
        if given != (CLIENT, SECRET):
            return 401, {"error": "invalid_client"}
        asked = self.codes.pop(form["code"], None)
        challenge = part(hashlib.sha256(form["code_verifier"].encode()).digest())
        if not asked or asked["redirect_uri"] != form["redirect_uri"] or asked["code_challenge"] != challenge:
            return 400, {"error": "invalid_grant"}
        claims = self.claims(nonce=asked["nonce"], **({"auth_time": int(time.time())} if "max_age" in asked else {}))
        return 200, {"access_token": "an access token", "token_type": "Bearer", "id_token": self.signs(claims)}

    def claims(self, **more: Any) -> Claims:
        """Of a good token for us, of whoever signs in."""
        now = int(time.time())
        return {"iss": self.url, "aud": CLIENT, "iat": now, "exp": now + 300} | more | self.user

    def logout_token(self, sign: Callable[[Claims], object] = signed, **more: Any) -> Any:
        now = int(time.time())
        good = {"iss": self.url, "aud": CLIENT, "iat": now, "exp": now + 120, "jti": token_urlsafe(8), "events": LOGOUT}
        return sign({name: value for name, value in (good | more).items() if value is not None})


class Handler(BaseHTTPRequestHandler):
    provider: Provider

    def do_GET(self) -> None:
        url = urlsplit(self.path)
        self.answer(url.path, dict(parse_qsl(url.query)))

    def do_POST(self) -> None:
        self.answer(self.path, dict(parse_qsl(self.rfile.read(int(self.headers["Content-Length"])).decode())))

    def answer(self, path: str, asked: dict[str, str]) -> None:
        provider = self.provider
        provider.seen.append((path, asked))
        how = provider.spoilt.get(path) or provider.spoilt.get("*")
        if how == "hang":
            provider.closing.wait()
        elif how in ("hang", "reset"):
            pass
        elif how:
            status, body = {
                "503": (503, b"{}"),
                "429": (429, b"{}"),
                "redirect": (302, b"{}"),
                "huge": (200, b" " * 600_000 + b"{}"),
            }.get(how, (200, b"<html>maintenance</html>"))
            self.send(status, body, {"Location": f"{provider.url}/elsewhere"})
        elif path == "/.well-known/openid-configuration":
            self.say(provider.discovery())
        elif path == "/keys":
            self.say({"keys": provider.keys})
        elif path == "/authorize":
            to = provider.authorize(asked)
            provider.waits()
            self.say({"to": to}) if "and_say_it" in asked else self.send(302, b"", {"Location": to})
        elif path == "/token":
            status, said = provider.token(asked, self.headers.get("Authorization", ""))
            self.say(said, status)
        elif path == "/end":
            self.send(302, b"", {"Location": asked["post_logout_redirect_uri"]})
        elif path == "/userinfo":
            granted = self.headers["Authorization"] == "Bearer an access token"
            self.say({"sub": provider.user["sub"], **provider.userinfo} if granted else {}, 200 if granted else 401)
        else:
            self.send(404, b"")

    def say(self, said: Claims, status: int = 200) -> None:
        self.send(status, json.dumps(said).encode(), {"Content-Type": "application/json"})

    def send(self, status: int, body: bytes, headers: dict[str, str] | None = None) -> None:
        self.send_response(status)
        for name, value in (headers or {}).items():
            self.send_header(name, value)
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)

    def log_message(self, *_: object) -> None:
        """A test looks at `seen`."""
