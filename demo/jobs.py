"""The jobs of a made-up shop, and how they fail."""

from collections.abc import Callable
from random import Random
from typing import Any, NamedTuple
from uuid import UUID

from demo.deaths import LIFETIME, Failure, Job, new_job

HOUR = 3_600_000
GATEWAY = "gateway.acquirer.example:443"
CUSTOMERS = ["Anna Brandt", "José Núñez", "Li Wei", "Zoë Okafor", "Тимур Ким", "O'Brien & Sons", "Müller GmbH"]
SUBJECTS = [
    "Hello – „Grüße“",
    "Your parcel is delayed",
    "Votre colis est en retard",
    "<b>Sale</b> ends & more today",
    "注文の確認",
]


class Kind(NamedTuple):
    """The jobs of one queue. `waiting`: how many lie there on a usual day."""

    queue: str
    weight: int
    max_retries: int
    waiting: int
    arguments: Callable[[Random], dict[str, Any]]
    failures: Callable[[Random, dict[str, Any]], list[Failure]]
    lifetime: int = LIFETIME

    def job(self, chance: Random, created: int) -> Job:
        """A new one, created at this time (unix ms)."""
        jid = UUID(int=chance.getrandbits(128), version=4)
        return new_job(jid, self.queue, self.max_retries, created + self.lifetime, self.arguments(chance))

    def failure(self, chance: Random, job: Job) -> Failure:
        """What such a job may raise; the first of its failures is the most common one."""
        failures = self.failures(chance, job)
        return chance.choice([failures[0], *failures])


def pick(chance: Random) -> Kind:
    return chance.choices(KINDS, [kind.weight for kind in KINDS])[0]


def invoice(chance: Random) -> dict[str, Any]:
    return {
        "invoice_id": chance.randint(9007199254740993, 9007199254999999),  # beyond what a float can hold
        "amount": chance.randint(900, 480000) / 100,
        "currency": chance.choice(["EUR", "EUR", "GBP", "CHF"]),
        "customer": chance.choice(CUSTOMERS),
        "iban": f"DE{chance.randint(10, 99)}37040044{chance.randint(10**9, 10**10 - 1)}",
        "tags": chance.choice([["net-30"], ["net-30", "überfällig"], ["net-60", "a/b"], []]),
    }


def connection_refused(cause: str = "Connection refused") -> Failure:
    """The incident of the day."""
    frames = (
        "/usr/lib/crystal/lib/socket/addrinfo.cr:67:17 in 'initialize'",
        "/usr/lib/crystal/lib/socket/tcp_socket.cr:27:3 in 'new'",
        "/usr/lib/crystal/lib/http/client.cr:799:15 in 'io'",
        "src/invoices/gateway.cr:58:12 in 'charge'",
        "src/jobs/capture_invoice.cr:23:5 in 'perform'",
    )
    return Failure(
        "Socket::ConnectError",
        "connection_error",
        f"Error connecting to '{GATEWAY}': Connection refused",
        frames,
        cause,
    )


def invoice_failures(chance: Random, job: dict[str, Any]) -> list[Failure]:
    wrong = f"amount {job.get('amount')} does not match invoice #{job.get('invoice_id')}"
    slow = ("src/invoices/gateway.cr:61:9 in 'charge'", "src/jobs/capture_invoice.cr:23:5 in 'perform'")
    return [
        Failure("IO::TimeoutError", "timeout_error", "Read timed out", slow),
        Failure("ArgumentError", "validation_error", wrong, ("src/jobs/capture_invoice.cr:17:7 in 'perform'",)),
    ]


def email(chance: Random) -> dict[str, Any]:
    to = f"user{chance.randint(1, 9999)}@example.com"
    return {"to": to, "subject": chance.choice(SUBJECTS), "template": "order_update", "attempt": 0}


def email_failures(chance: Random, job: dict[str, Any]) -> list[Failure]:
    gone = f"SMTP 550 mailbox unavailable for {job.get('to')}"
    at = ("src/mail/smtp.cr:88:9 in 'deliver'", "src/jobs/send_email.cr:36:9 in 'perform'")
    return [
        Failure("Exception", "unknown_error", gone, at, "Connection reset by peer"),
        Failure("Exception", "unknown_error", "SMTP 451 4.7.1 Greylisted, try again later", at),
        Failure("KeyError", "configuration_error", 'Missing hash key: "reply_to"', at[1:]),
    ]


def webhook(chance: Random) -> dict[str, Any]:
    return {
        "endpoint_id": chance.randint(310, 420),
        "event": chance.choice(["order.paid", "order.shipped", "order.refunded"]),
        "order_id": chance.randint(500100, 509999),
        "url": f"https://shop-{chance.randint(1, 60)}.example/hooks?v=2&sig=1",
        "secret": f"whsec_{chance.getrandbits(96):024x}",
    }


def webhook_failures(chance: Random, job: dict[str, Any]) -> list[Failure]:
    at = ("src/webhooks/client.cr:41:13 in 'post'", "src/jobs/deliver_webhook.cr:19:5 in 'perform'")
    answer = (
        f"Unexpected answer 500 from endpoint {job.get('endpoint_id')}:\n<html><h1>Internal Server Error</h1></html>"
    )
    return [
        Failure("IO::TimeoutError", "timeout_error", "Read timed out", at),
        Failure("Webhooks::Error", "unknown_error", answer, at),
        Failure("ArgumentError", "validation_error", f"no signature for event {job.get('event')}", at[1:]),
    ]


def document(chance: Random) -> dict[str, Any]:
    return {"doc_type": "parcel", "doc_id": chance.randint(7100000, 7199999), "op": chance.choice(["upsert", "delete"])}


def document_failures(chance: Random, job: dict[str, Any]) -> list[Failure]:
    at = (
        "/usr/lib/crystal/lib/json/parser.cr:125:5 in 'parse_exception'",
        "src/jobs/index_document.cr:27:14 in 'perform'",
    )
    return [Failure("JSON::ParseException", "serialization_error", "unexpected token '<' at line 1, column 1", at)]


def report(chance: Random) -> dict[str, Any]:
    payload = {"rows": chance.sample(range(100), 3), "big": 9223372036854775807, "rate": chance.randint(1, 999) / 10}
    return {
        "kind": chance.choice(["revenue", "refunds", "stock"]),
        "format": chance.choice(["pdf", "csv"]),
        "payload": payload,
    }


def report_failures(chance: Random, job: dict[str, Any]) -> list[Failure]:
    at = ("src/jobs/build_report.cr:112:12 in 'perform'",)
    return [
        Failure("DivisionByZeroError", "unknown_error", "Division by 0", at),
        Failure("NotImplementedError", "implementation_error", f"Not Implemented: {job.get('format')}", at),
    ]


def thumbnail(chance: Random) -> dict[str, Any]:
    return {"path": f"/srv/uploads/{chance.getrandbits(40):010x}.jpg", "sizes": [160, 640, 1280]}


def thumbnail_failures(chance: Random, job: dict[str, Any]) -> list[Failure]:
    missing = f"Error opening file with mode 'r': '{job.get('path')}': No such file or directory"
    return [Failure("File::NotFoundError", "unknown_error", missing, ("src/jobs/make_thumbnail.cr:12:5 in 'perform'",))]


def translation(chance: Random) -> dict[str, Any]:
    return {"text": "será enviado – ok", "labels": {"Größe": chance.choice(["S", "M", "☃"])}}


def translation_failures(chance: Random, job: dict[str, Any]) -> list[Failure]:
    message = 'Missing hash key: "Größe/☃" <b>"quoted"</b>\n2nd line of the message\ttab'
    return [Failure("KeyError", "configuration_error", message, ("src/jobs/translate.cr:75:7 in 'perform'",))]


def payout(chance: Random) -> dict[str, Any]:
    return {
        "merchant": chance.randint(10, 40),
        "amount": chance.randint(10, 900) * 1.5,
        "token": f"{chance.getrandbits(80):020x}",
    }


def payout_failures(chance: Random, job: dict[str, Any]) -> list[Failure]:
    at = ("src/jobs/pay_out.cr:31:7 in 'perform'",)
    return [Failure("Payouts::LimitReached", "unknown_error", f"limit of merchant {job.get('merchant')} reached", at)]


INVOICES = Kind("invoices", 22, 3, 14, invoice, invoice_failures)
WEBHOOKS = Kind("webhooks", 24, 5, 6, webhook, webhook_failures, lifetime=HOUR)
KINDS = [
    INVOICES,
    WEBHOOKS,
    Kind("emails", 30, 3, 41, email, email_failures, lifetime=12 * HOUR),
    Kind("search-index", 12, 3, 23, document, document_failures),
    Kind("reports", 6, 2, 3, report, report_failures),
    Kind("thumbnails", 8, 1, 0, thumbnail, thumbnail_failures),
    Kind("unicode:müller", 2, 1, 2, translation, translation_failures),
    Kind("payouts", 1, 3, 0, payout, payout_failures),
]
OF_QUEUE = {kind.queue: kind for kind in KINDS}
