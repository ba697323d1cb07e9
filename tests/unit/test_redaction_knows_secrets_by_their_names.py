"""Which fields are secrets. When in doubt a name is one: hiding too little is for good."""

import pytest

from joobq_admin.joobq.entry import OWN_FIELDS
from joobq_admin.triage.redact import DEFAULT_PATTERNS, Redaction
from tests.support.real_entries import REAL

SECRET = (
    *("password", "PASSWORD", "Password", "passwords", "password1", "user_password", "userPassword", "userpassword"),
    *(
        "password_hash",
        "passwordDigest",
        "new-password",
        "pass_word",
        "passWord",
        "pass",
        "db.pass",
        "REDIS_PASS",
        "passwd",
    ),
    *(
        "passphrase",
        "pwd",
        "secret",
        "secrets",
        "client_secret",
        "clientSecret",
        "clientsecret",
        "SECRET_KEY",
        "secretkey",
    ),
    *(
        "token",
        "tokens",
        "access_token",
        "accessToken",
        "accesstoken",
        "refresh-token",
        "csrfToken2",
        "token_expires_at",
    ),
    *(
        "authorization",
        "Authorization",
        "Proxy-Authorization",
        "basic_auth",
        "bearer",
        "jwt",
        "Set-Cookie",
        "session_id",
    ),
    *("api_key", "apiKey", "APIKey", "apikey", "API-KEY", "X-Api-Key", "xapikey", "api key", "stripe_api_keys"),
    *("access_key", "aws_access_key_id", "private_key", "privateKey", "signing_key", "encryptionKey", "credentials"),
    *(
        "card",
        "cards",
        "card_number",
        "cardNumber",
        "cardnumber",
        "cardNo",
        "credit_card_number",
        "creditCard",
        "creditcard",
    ),
    *(
        "debitcard",
        "pan",
        "cvv",
        "cvv2",
        "CVC",
        "card_cvc",
        "iban",
        "IBAN",
        "customerIban",
        "account_number",
        "accountNumber",
    ),
    *(
        "ssn",
        "SSN",
        "customer_ssn",
        "passport",
        "passport_number",
        "pin",
        "otp",
        ":password",
        "user[password]",
        "@secret",
    ),
    # counts of words that a language model read: hidden too, for tokens are secrets more often
    *("tokens_used", "max_tokens"),
)
NO_SECRET = (
    *("discard", "discarded", "postcard", "postcard_id", "wildcard", "cardinality", "cardiology", "scorecard"),
    *("tokenizer", "tokenized", "tokenization", "secretary", "secretary_id", "author", "authorized_by", "auth_time"),
    *(
        "bypass",
        "bypassed",
        "compass",
        "passenger",
        "passage",
        "shipping",
        "pinned",
        "spinner",
        "opinion",
        "company",
        "panel",
    ),
    *("expand", "Japan", "session", "session_count", "account", "number", "api", "key", "keys", "access", "id", "note"),
    *("monkey", "keyboard", "public_key", "cookbook", "botp", "adopt", "lessn", "caliban", "", "_", "…"),
    # of an entry itself
    *OWN_FIELDS,
    *("failed_at", "message", "backtrace", "cause", "error_type", "error_class", "retry_count", "system_context"),
    *("worker_id", "process_id", "hostname", "redis_info", "original_job_data", "original_job_data_length"),
)


@pytest.mark.parametrize("name", SECRET)
def test_a_secrets_name_in_any_spelling(name: str) -> None:
    assert Redaction().hides(name)
    assert Redaction().hides(name.encode())


@pytest.mark.parametrize("name", sorted(NO_SECRET))
def test_a_name_that_only_looks_like_one(name: str) -> None:
    assert not Redaction().hides(name)


def test_nothing_of_a_real_entry_is_a_secret() -> None:
    assert [Redaction().redacted(entry.raw) for entry in REAL] == [(entry.raw, ()) for entry in REAL]


def test_a_star_stands_for_letters_within_a_word() -> None:
    redaction = Redaction(["*plan*", "zip*"])
    assert [
        name for name in ("plan", "floor_plans", "airplane", "plant", "zip", "zipcode") if redaction.hides(name)
    ] == [*("plan", "floor_plans", "airplane", "plant", "zip", "zipcode")]
    assert [name for name in ("pla", "p", "unzip", "password") if redaction.hides(name)] == []


def test_patterns_may_be_written_in_any_spelling_and_alphabet() -> None:
    for pattern in ("card_number", "cardNumber", "CARD-NUMBER", " card number "):
        assert Redaction([pattern]).hides("theCardNumber")
    redaction = Redaction(["пароль", "contraseña"])
    assert redaction.hides("Новый_ПАРОЛЬ")
    assert redaction.redacted('{"ПАРОЛЬ":"x","contrase\\u00f1a":"y"}'.encode()).raw == (
        '{"ПАРОЛЬ":"*","contrase\\u00f1a":"*"}'.encode()
    )


def test_without_patterns_nothing_is_hidden_but_passwords_in_addresses() -> None:
    assert Redaction([]).redacted(b'{"password":"x"}') == (b'{"password":"x"}', ())
    assert Redaction([]).redacted(b"redis://:x@db:6379/0").raw == b"redis://:*@db:6379/0"


@pytest.mark.parametrize("pattern", ["", " ", "*", "**", "_-_", "?"])
def test_a_pattern_without_letters_is_an_error(pattern: str) -> None:
    with pytest.raises(ValueError, match="letters"):
        Redaction([*DEFAULT_PATTERNS, pattern])


@pytest.mark.parametrize("pattern", ["queue", "jid", "Error", "*status*", "retries", "max", "e*s"])
def test_a_pattern_that_would_hide_one_of_joobqs_own_fields_is_an_error(pattern: str) -> None:
    with pytest.raises(ValueError, match="a field of JoobQ's own"):
        Redaction([pattern])
