"""Sign-in by the company's own OpenID provider: the authorization code flow with PKCE, state and nonce.

The provider is asked at the addresses that its own discovery document gives, over TLS, and it is believed nothing that
it did not sign or say there. OpenID Connect Core, Discovery, RP-Initiated and Back-Channel Logout; RFC 7636, RFC 9207.
"""

import logging
import ssl
import time
from base64 import b64encode
from collections.abc import Mapping
from dataclasses import dataclass, field
from functools import cache
from typing import Any
from urllib.parse import quote_plus, urlencode, urlsplit

from django.conf import settings

from joobq_admin.sso import session, tokens
from joobq_admin.sso.attempts import Attempt
from joobq_admin.sso.fetch import Kept, Unavailable, fetch
from joobq_admin.sso.proxy import flaw
from joobq_admin.sso.roles import EVERYONE, Role, RoleGroups, role_of
from joobq_admin.sso.session import SUB_BYTES, Session
from joobq_admin.sso.tokens import Claims, Keys, Refused

DISCOVERY = "/.well-known/openid-configuration"
NEEDED = ("authorization_endpoint", "token_endpoint", "jwks_uri")
EMAIL = {"email", "email_verified"}

log = logging.getLogger(__name__)


@dataclass(frozen=True, slots=True)
class Rules:
    """The provider, who we are to it, and what its groups and verified e-mail addresses mean."""

    issuer: str
    client_id: str
    client_secret: str = field(repr=False)
    scopes: str
    groups_claim: str
    groups: RoleGroups
    emails: RoleGroups
    ca_file: str = ""

    @property
    def host(self) -> str:
        """As people know it."""
        return urlsplit(self.issuer).netloc


@cache
def provider() -> "Provider":
    """One a process: what was fetched is kept in it."""
    return Provider(settings.OIDC)


class Provider:
    """Every method may raise Unavailable: the provider does not answer, and nothing has happened."""

    def __init__(self, rules: Rules) -> None:
        self.rules = rules
        self._trust = ssl.create_default_context(cafile=rules.ca_file or None)
        self._document = Kept(self._discovered)
        self._keys = Keys(lambda: self._get(self._document.get()["jwks_uri"]))

    def address(self, attempt: Attempt, back: str) -> str:
        """Where the browser goes to sign in. `back`: the callback, as the provider has it registered."""
        asked = {
            "response_type": "code",
            "response_mode": "query",
            "client_id": self.rules.client_id,
            "redirect_uri": back,
            "scope": self.rules.scopes,
            "state": attempt.state,
            "nonce": attempt.nonce,
            "code_challenge": attempt.challenge,
            "code_challenge_method": "S256",
        }
        again = {"prompt": "login", "max_age": "0"} if attempt.confirms else {}
        return _with(self._document.get()["authorization_endpoint"], asked | again)

    def sign_out_address(self, back: str) -> str:
        """Where the browser signs out of the provider itself; '' where it has no such address, or does not answer."""
        try:
            address = self._document.get().get("end_session_endpoint")
        except Unavailable:
            return ""
        asked = {"client_id": self.rules.client_id, "post_logout_redirect_uri": back}
        return _with(address, asked) if isinstance(address, str) and self._safe(address) else ""

    def signed_in(self, attempt: Attempt, answer: Mapping[str, str], back: str) -> Session:
        """Who signed in, by the provider's `answer` to the address of `attempt`. Raises Refused: it proves nobody."""
        document, rules = self._document.get(), self.rules
        always = document.get("authorization_response_iss_parameter_supported") is True
        if answer.get("iss", None if always else rules.issuer) != rules.issuer:
            raise Refused("the answer is another provider's")
        if error := answer.get("error"):
            raise Refused(f"the provider said {error:.100}")
        if not (code := answer.get("code")):
            raise Refused("there is no code")
        given = self._tokens(code, attempt, back)
        access = given.get("access_token")
        access = access if isinstance(access, str) else ""
        claims = tokens.id_token(
            given.get("id_token"), self._keys, rules.issuer, rules.client_id, attempt.nonce, access
        )
        auth_time = _time(claims.get("auth_time"))
        if attempt.confirms and auth_time < attempt.began - tokens.LEEWAY:
            raise NotAsked(f"auth_time is {auth_time or 'missing'}")
        sub, sid = claims["sub"], claims.get("sid")
        if fault := flaw(sub) or ("is longer than 255 bytes" if len(sub.encode()) > SUB_BYTES else ""):
            raise Refused(f"sub {fault}")
        about = self._about(claims, access)
        role = self._role(about)
        elsewhere = about.get("_claim_names")
        if role is None and isinstance(elsewhere, dict) and rules.groups_claim in elsewhere:
            log.warning("groups are not in the token: there are too many of them", extra={"user": sub})
        return Session(
            sub=sub,
            name=_name(about),
            role=role,
            auth_time=auth_time,
            id=session.new_id(),
            at=int(claims["iat"]),
            sid=session.ended_by(sid=sid) if isinstance(sid, str) and sid else "",
        )

    def ended(self, logout_token: str) -> tuple[str, int]:
        """The id of the sessions that a back-channel logout ends, and until when they began. Raises Refused."""
        claims = tokens.logout_token(logout_token, self._keys, self.rules.issuer, self.rules.client_id)
        who = {"sid": claims["sid"]} if "sid" in claims else {"sub": claims["sub"]}
        return session.ended_by(**who), int(claims["iat"])

    def _tokens(self, code: str, attempt: Attempt, back: str) -> Claims:
        rules, document = self.rules, self._document.get()
        form = {
            "grant_type": "authorization_code",
            "code": code,
            "redirect_uri": back,
            "code_verifier": attempt.verifier,
        }
        headers, ways = {}, document.get("token_endpoint_auth_methods_supported")
        if not isinstance(ways, list) or "client_secret_basic" in ways:
            pair = f"{quote_plus(rules.client_id)}:{quote_plus(rules.client_secret)}"
            headers = {"Authorization": f"Basic {b64encode(pair.encode()).decode()}"}
        else:
            form |= {"client_id": rules.client_id, "client_secret": rules.client_secret}
        status, given = fetch(document["token_endpoint"], self._trust, form, headers)
        if status != 200:
            raise Refused(f"the token endpoint said {status} {given.get('error', '')!s:.100}")
        return given

    def _about(self, claims: Claims, access: str) -> Claims:
        """The claims, and from the userinfo endpoint what they do not say and a role may depend on."""
        rules, endpoint = self.rules, self._document.get().get("userinfo_endpoint")
        grouped = any(groups - {EVERYONE} for groups in rules.groups.values())
        lacks = grouped and rules.groups_claim not in claims
        lacks |= any(rules.emails.values()) and not claims.keys() >= EMAIL
        if not lacks or not access or not isinstance(endpoint, str) or not self._safe(endpoint):
            return claims
        status, said = fetch(endpoint, self._trust, headers={"Authorization": f"Bearer {access}"})
        if status != 200:
            raise Refused(f"the userinfo endpoint said {status}")
        if said.get("sub") != claims["sub"]:
            raise Refused("the userinfo is somebody else's")
        whole = claims.keys() >= EMAIL  # an address counts as verified only by whoever gave it
        return said | {name: value for name, value in claims.items() if whole or name not in EMAIL}

    def _role(self, about: Claims) -> Role | None:
        """By groups, a list of strings and nothing that looks like one, or by an address that the provider verified."""
        rules, groups = self.rules, about.get(self.rules.groups_claim)
        theirs = [group for group in groups if isinstance(group, str)] if isinstance(groups, list) else []
        email = about.get("email") if about.get("email_verified") is True else None
        found = role_of(theirs, rules.groups), role_of([email] if isinstance(email, str) else [], rules.emails)
        return max(filter(None, found), key=list(Role).index, default=None)

    def _discovered(self) -> Claims:
        document = self._get(self.rules.issuer.rstrip("/") + DISCOVERY)
        if document.get("issuer") != self.rules.issuer:
            raise Unavailable(f"its issuer is {document.get('issuer')!r:.200}, not {self.rules.issuer}")
        for name in NEEDED:
            if not isinstance(address := document.get(name), str) or not self._safe(address):
                raise Unavailable(f"its {name} is {address!r:.200}")
        return document

    def _get(self, url: str) -> Claims:
        status, said = fetch(url, self._trust)
        if status != 200:
            raise Unavailable(f"{url:.200} answered {status}")
        return said

    def _safe(self, address: str) -> bool:
        """By TLS, unless the provider itself is spoken to without."""
        return address.startswith(("https://", f"{urlsplit(self.rules.issuer).scheme}://"))


class NotAsked(Refused):
    """Somebody was to show again that it is them, and the provider did not ask them."""


def _with(address: str, asked: Mapping[str, str]) -> str:
    return f"{address}{'&' if '?' in address else '?'}{urlencode(asked)}"


def _name(about: Claims) -> str:
    """What people call them: the first of these that can be shown."""
    names = [about.get(claim) for claim in ("name", "preferred_username", "email", "sub")]
    return next(name for name in names if isinstance(name, str) and not flaw(name))


def _time(value: Any) -> int:
    """Unix seconds, not of a time to come; 0 for what is none."""
    told = isinstance(value, int | float) and not isinstance(value, bool) and 0 < value < 1 << 53
    return int(min(value, time.time())) if told else 0
