"""JSON, JSON in JSON, what is malformed or cut, prose: the value of a secret is hidden, and nothing beside it."""

import json

import pytest

from joobq_admin.triage.redact import Hidden, Redacted, Redaction

REDACTION = Redaction()

#: What is written, and what of it is shown.
JSON = {
    '{"password":"hunter2","b":1}': '{"password":"*******","b":1}',
    '{ "password" :\n\t"hunter2" }': '{ "password" :\n\t"*******" }',
    '{"a":{"b":[{"token":"t","c":"d"}]}}': '{"a":{"b":[{"token":"*","c":"d"}]}}',
    '{"card":{"n":"4111","x":["}",{"y":"\\"]}"}]},"b":1}': '{"card":' + "*" * 35 + ',"b":1}',
    '{"tokens":["a","b"],"b":["a"]}': '{"tokens":*********,"b":["a"]}',
    '{"pin":1234,"cvv":-1.5e3,"otp":true,"b":5}': '{"pin":****,"cvv":******,"otp":****,"b":5}',
    '{"token":null,"password":"","b":null}': '{"token":null,"password":"","b":null}',
    '{"p\\u0061ssword":"a","\\u0050ASSWORD":"b"}': '{"p\\u0061ssword":"*","\\u0050ASSWORD":"*"}',
    '{"my password (new)":"x","a":"password","b":"token"}': '{"my password (new)":"*","a":"password","b":"token"}',
    '{"password":"a\\"b\\\\","b":"c"}': '{"password":"******","b":"c"}',
    '{"password":"\\ud83d\\ude00\\ud800 ü","b":"c"}': '{"password":"' + "*" * 21 + '","b":"c"}',
    '{"a":"v",":password":"x"}': '{"a":"v",":password":"*"}',
    '{"password":"x","password":"y"}': '{"password":"*","password":"*"}',
    '{"password":"a\x01b\x02c\x03d","b":"\x01"}': '{"password":"*******","b":"\x01"}',
    '[{"token":"x"},["token","x"]]': '[{"token":"*"},["token","x"]]',
    # what only looks like a secret beside its name
    '{"a":"bad token: ","next":"v"}': '{"a":"bad token: ","next":"v"}',
    '{"a":"token: [","b":"c"}': '{"a":"token: *","b":"c"}',
    '{"a":"token: \'x","b":"it\'s"}': '{"a":"token: \'*","b":"it\'s"}',
    '{"a":["token","password"],"b":"c"}': '{"a":["token","password"],"b":"c"}',
}
CUT_OR_MALFORMED = {
    '{"password":"hun': '{"password":"***',
    '{"password":"hun\\': '{"password":"****',
    '{"a":1,"card":{"n":"4111","x":[1': '{"a":1,"card":' + "*" * 18,
    '{"a":1,"password":': '{"a":1,"password":',
    '{"a":1,"passw': '{"a":1,"passw',
    '{"a":01,"password":"x",}': '{"a":01,"password":"*",}',
    "{\"a\":nan,'password':'x y',\"b\":1}": "{\"a\":nan,'password':'***',\"b\":1}",
    '{a:1,password:"x y",b:"c"}': '{a:1,password:"***",b:"c"}',
    '{"a":"b"","password":"x","c":"d"}': '{"a":"b"","password":"*","c":"d"}',
    '{"a":1,password":"x","c":"d"}': '{"a":1,password":"*","c":"d"}',
    '{"a":1,"password:"x","c":"d"}': '{"a":1,"password:"*","c":"d"}',
    '{\\"password":\\"x\\","b":1}': '{\\"password":\\"*\\","b":1}',
    '{"a":1}\0{"password":"x"}': '{"a":1}\0{"password":"*"}',
    '{"password":"hun"ter2","b":1}': '{"password":"********","b":1}',
    '{"a":"b"c","card":{"n":"4111"},"d":1}': '{"a":"b"c","card":' + "*" * 19,
    '{"password":hunter2,"b":1}': '{"password":*******,"b":1}',
    "password": "password",
    "": "",
}
PROSE = {
    "login failed: password=hunter2, try again": "login failed: password=*******, try again",
    "token: abc def": "token: *** def",
    "password = hunter2\nfrom src/jobs.cr:36:9": "password = *******\nfrom src/jobs.cr:36:9",
    "bad token:\nfrom src/jobs.cr:36:9": "bad token:\nfrom src/jobs.cr:36:9",
    "GET https://x.example/?a=1&api_key=abc&b=2 failed": "GET https://x.example/?a=1&api_key=***&b=2 failed",
    "Authorization: Bearer abc.def.ghi (401)": "Authorization: ****************** (401)",
    "authorization: basic Ym86cGFzcw== sent": "authorization: ****************** sent",
    'token: \'a "pin": "b\' c" d': "token: '" + "*" * 14 + '" d',
    'Missing hash key in {"password" => "x y", "a" => 1}': 'Missing hash key in {"password" => "***", "a" => 1}',
    '#<User:0x7f @name="Bo", @secret="x y">': '#<User:0x7f @name="Bo", @secret="***">',
    '{"card" => {"n" => "4111"}, "a" => "b"}': '{"card" => ' + "*" * 15 + ', "a" => "b"}',
    "{user: 1, credentials: {key: 'x', n: 1}, b: 2}": "{user: 1, credentials: ****************, b: 2}",
    "cannot connect to redis://:hunter2@db:6379/0": "cannot connect to redis://:*******@db:6379/0",
    "https://bo:p@ss@x.example/a:b@c": "https://bo:****@x.example/a:b@c",
    "SMTP 550 for bo@x.example: card unknown": "SMTP 550 for bo@x.example: card unknown",
    # no fields: the class of an error, a file
    "Stripe::CardError: Your card was declined": "Stripe::CardError: Your card was declined",
    "Token::Expired and CardException: no": "Token::Expired and CardException: no",
    "from src/refresh_token.cr:36:9 in 'perform'": "from src/refresh_token.cr:36:9 in 'perform'",
    "the password is wrong, the token too": "the password is wrong, the token too",
}


@pytest.mark.parametrize(("written", "shown"), [*JSON.items(), *CUT_OR_MALFORMED.items(), *PROSE.items()])
def test_what_is_shown(written: str, shown: str) -> None:
    assert REDACTION.redacted(written.encode()).raw.decode() == shown
    assert REDACTION.redacted_text(written).raw.decode() == shown


@pytest.mark.parametrize("written", JSON)
@pytest.mark.parametrize("times", range(1, 7))
def test_json_in_json_hides_what_it_hides_outside(written: str, times: int) -> None:
    inside, shown = written, REDACTION.redacted(written.encode()).raw.decode()
    for _ in range(times):
        inside, shown = json.dumps({"note": inside, "n": 1}), json.dumps({"note": shown, "n": 1})
    redacted = REDACTION.redacted(inside.encode()).raw.decode()
    for _ in range(times):
        redacted, shown = json.loads(redacted)["note"], json.loads(shown)["note"]
    assert without_lengths(redacted) == without_lengths(shown)


def without_lengths(text: str) -> str:
    """Values that hold escapes are longer inside."""
    return "*".join(part for part in text.split("*") if part)


def test_quotes_may_be_written_as_numbers() -> None:
    written = rb'{"note":"{\u0022password\u0022:\u0022hunter2\u0022,\u0022b\u0022:1}"}'
    assert REDACTION.redacted(written).raw == written.replace(b"hunter2", b"*******")


def test_a_placeholders_text_is_cut_anywhere() -> None:
    job = json.dumps({"jid": "x", "password": "hunter2-hunter2", "card": {"n": "4111-4111"}, "z": "end"})
    for cut in range(len(job)):
        shown = REDACTION.redacted(json.dumps({"queue": "q", "original_job_data": job[:cut]}).encode())
        assert b"hun" not in shown.raw
        assert b"4111" not in shown.raw
        assert json.loads(shown.raw)["original_job_data"] == job[:cut].translate({}) or shown.hidden


def test_bytes_that_are_no_utf8() -> None:
    assert REDACTION.redacted(b'{"password":"\xff\xfe\x80","a\xff":"\xff"}').raw == b'{"password":"***","a\xff":"\xff"}'


def test_lengths_and_places_are_the_entrys_own() -> None:
    raw = '{"a":"ü","password":"hünter2","b":"{\\"pin\\":12}"}'.encode()
    shown = REDACTION.redacted(raw)
    assert len(shown.raw) == len(raw)
    assert [raw[hidden.start : hidden.end].decode() for hidden in shown.hidden] == ["hünter2", "12"]
    assert shown.names == ("password", "pin")


@pytest.mark.parametrize(
    ("value", "what"),
    [
        *(('"x"', "1 character"), ('"hünter2"', "7 characters"), ('"a\\"\\n\\u00e9"', "4 characters")),
        *(
            ("[1]", "a list"),
            ("{}", "an object"),
            ("12", "a number"),
            ("-1.5e+3", "a number"),
            ("false", "true or false"),
        ),
        ('"' + "x" * 1234 + '"', "1,234 characters"),
    ],
)
def test_what_a_hidden_value_is(value: str, what: str) -> None:
    assert [hidden.what for hidden in REDACTION.spans(f'{{"a":1,"token":{value}}}'.encode())] == [what]


@pytest.mark.parametrize(
    ("written", "told"),
    [
        *(('"cardNumber":1', "cardNumber"), ('"my card":1', "my card"), ("{card_no: 1}", "card_no")),
        *(('"user[api_key]":1', "api_key"), ('"\u202etoken\\u0001":1', "token"), ('"customer\udce4_iban":1', "iban")),
        *(('""password=hunter2, a":1', "password"), (f'"{"x" * 100}_token":1', "token")),
    ],
)
def test_a_field_is_told_by_its_name_and_by_nothing_else(written: str, told: str) -> None:
    raw = written.encode("utf-8", "surrogateescape")
    assert {span.name for span in REDACTION.spans(raw)} == {told}


def test_a_part_begins_anywhere() -> None:
    shown = Redacted(b'{"a":"*","b":"*"}', (Hidden(6, 7, "a", "1 character"), Hidden(14, 15, "b", "1 character")))
    assert shown.part(7) == (b'","b":"*"}', (Hidden(7, 8, "b", "1 character"),))
    assert shown.part(8) == (b',"b":"*"}', (Hidden(6, 7, "b", "1 character"),))
