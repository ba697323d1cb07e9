"""Sign-in by the company's own OpenID provider: the authorization code flow with PKCE, state and nonce.

The provider is asked at the addresses that its own discovery document gives, over TLS, and it is believed nothing that
it did not sign or say there. OpenID Connect Core, Discovery, RP-Initiated and Back-Channel Logout; RFC 7636, RFC 9207.
"""

import logging
import ssl
from base64 import b64encode
from collections.abc import Mapping
from dataclasses import dataclass, field
from functools import cache
from urllib.parse import quote_plus, urlencode, urlsplit

from django.conf import settings

from joobq_admin.sso import claims, session, tokens
from joobq_admin.sso.attempts import Attempt
from joobq_admin.sso.claims import Claims
from joobq_admin.sso.fetch import Kept, Unavailable, fetch, json_at
from joobq_admin.sso.roles import EVERYONE, Role, RoleGroups
from joobq_admin.sso.session import Session
from joobq_admin.sso.tokens import Keys, Refused

DISCOVERY = "/.well-known/openid-configuration"
NEEDED = ("authorization_endpoint", "token_endpoint", "jwks_uri")
EMAIL = {"email", "email_verified"}

log = logging.getLogger(__name__)


class NotAsked(Refused):
    """Somebody was to show again that it is them, and the provider did not ask them."""


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
    trust: ssl.SSLContext | None = None  # certificates for the provider; None: the system's

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
        self._document = Kept(self._discovered)
        self._keys = Keys(lambda: json_at(self._document.get()["jwks_uri"], self.rules.trust))

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
        rules, given = self.rules, self._tokens(self._code(answer), attempt, back)
        access = given.get("access_token")
        access = access if isinstance(access, str) else ""
        said = tokens.id_token(given.get("id_token"), self._keys, rules.issuer, rules.client_id, attempt.nonce, access)
        auth_time = claims.second(said.get("auth_time"))
        if attempt.confirms and auth_time < attempt.began - tokens.LEEWAY:
            raise NotAsked(f"auth_time is {auth_time or 'missing'}")
        sub, sid = said["sub"], said.get("sid")
        if fault := claims.flaw_of_sub(sub):
            raise Refused(f"sub {fault}")
        about = self._about(said, access)
        return Session(
            sub=sub,
            name=claims.name(about),
            role=self._role(about),
            auth_time=auth_time,
            id=session.new_id(),
            at=int(said["iat"]),
            sid=session.ended_by(sid=sid) if isinstance(sid, str) and sid else "",
        )

    def ended(self, logout_token: str) -> tuple[str, int]:
        """The id of the sessions that a back-channel logout ends, and until when they began. Raises Refused."""
        said = tokens.logout_token(logout_token, self._keys, self.rules.issuer, self.rules.client_id)
        who = {"sid": said["sid"]} if "sid" in said else {"sub": said["sub"]}
        return session.ended_by(**who), int(said["iat"])

    def _code(self, answer: Mapping[str, str]) -> str:
        always = self._document.get().get("authorization_response_iss_parameter_supported") is True
        if answer.get("iss", None if always else self.rules.issuer) != self.rules.issuer:
            raise Refused("the answer is another provider's")
        if error := answer.get("error"):
            raise Refused(f"the provider said {error:.100}")
        if not (code := answer.get("code")):
            raise Refused("there is no code")
        return code

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
        status, given = fetch(document["token_endpoint"], rules.trust, form, headers)
        if status != 200:
            raise Refused(f"the token endpoint said {status} {given.get('error', '')!s:.100}")
        return given

    def _about(self, said: Claims, access: str) -> Claims:
        """What was said, and from the userinfo endpoint what was not and a role may depend on."""
        rules, endpoint = self.rules, self._document.get().get("userinfo_endpoint")
        grouped = any(groups - {EVERYONE} for groups in rules.groups.values())
        lacks = grouped and rules.groups_claim not in said
        lacks |= any(rules.emails.values()) and not said.keys() >= EMAIL
        if not lacks or not access or not isinstance(endpoint, str) or not self._safe(endpoint):
            return said
        status, more = fetch(endpoint, rules.trust, headers={"Authorization": f"Bearer {access}"})
        if status != 200:
            raise Refused(f"the userinfo endpoint said {status}")
        if more.get("sub") != said["sub"]:
            raise Refused("the userinfo is somebody else's")
        whole = said.keys() >= EMAIL  # an address counts as verified only by whoever gave it
        return more | {name: value for name, value in said.items() if whole or name not in EMAIL}

    def _role(self, about: Claims) -> Role | None:
        rules, elsewhere = self.rules, about.get("_claim_names")
        email = about.get("email") if about.get("email_verified") is True else None
        role = claims.role(about.get(rules.groups_claim), rules.groups, email, rules.emails)
        if role is None and isinstance(elsewhere, dict) and rules.groups_claim in elsewhere:
            log.warning("groups are not in the token: there are too many of them", extra={"user": about["sub"]})
        return role

    def _discovered(self) -> Claims:
        document = json_at(self.rules.issuer.rstrip("/") + DISCOVERY, self.rules.trust)
        if document.get("issuer") != self.rules.issuer:
            raise Unavailable(f"its issuer is {document.get('issuer')!r:.200}, not {self.rules.issuer}")
        for name in NEEDED:
            if not isinstance(address := document.get(name), str) or not self._safe(address):
                raise Unavailable(f"its {name} is {address!r:.200}")
        return document

    def _safe(self, address: str) -> bool:
        """It is one, by TLS, unless the provider itself is spoken to without."""
        try:
            url = urlsplit(address)
            named = bool(url.hostname) and url.port != 0
        except ValueError:
            return False
        return named and url.scheme in ("https", urlsplit(self.rules.issuer).scheme)


def _with(address: str, asked: Mapping[str, str]) -> str:
    return f"{address}{'&' if '?' in address else '?'}{urlencode(asked)}"
