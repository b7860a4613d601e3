"""Secrets by rule: none of them is shown, and what is no secret stays as it is."""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from support.patience import bounded
from toolwire.audit.redact import redact, redact_value

SECRETS = {
    "a bearer header": ("Authorization: Bearer abcdef.123456", "abcdef.123456"),
    "a basic header": ('curl -H "Authorization: Basic dXNlcjpwYXNz"', "dXNlcjpwYXNz"),
    "a header in a proxy": ("Proxy-Authorization: Digest x9y8z7", "x9y8z7"),
    "a cookie": ("Set-Cookie: sid=s3cr3t; Path=/", "s3cr3t"),
    "a line of .env": ("DB_PASSWORD=hunter22", "hunter22"),
    "a quoted line of .env": ('export API_KEY="abc def"', "abc def"),
    "a YAML line": ("  my_auth_token: xyz123", "xyz123"),
    "JSON": ('{"client_secret":"q1w2e3"}', "q1w2e3"),
    "code": ("password = 'open sesame'", "open sesame"),
    "a database URL": ("postgresql://user:pw4me@host/db", "pw4me"),
    "a URL without a user": ("redis://:p4ss@host:6379/0", "p4ss"),
    "a connection string": ("Server=x;User Id=a;Password=p@ss;Encrypt=yes", "p@ss"),
    "a storage key": ("AccountName=x;AccountKey=abc/def==;", "abc/def=="),
    "a query": ("https://x/y?access_token=abc123&z=1", "abc123"),
    "a JSON web token": ("see eyJhbGciOi.eyJzdWIiOi.c2lnbmF0dXJl here", "eyJzdWIiOi"),
    "an AWS key": ("AKIAABCDEFGHIJKLMNOP", "AKIAABCDEFGHIJKLMNOP"),
    "a model's key": ("key sk-ant-api03-abcdefghijklmnop", "abcdefghijklmnop"),
    "a GitHub token": ("ghp_" + "a" * 36, "aaaa"),
    "a Slack token": ("xoxb-1234567890-abc", "1234567890"),
    "a private key": ("-----BEGIN RSA PRIVATE KEY-----\nMIIE\n-----END RSA PRIVATE KEY-----", "MIIE"),
    "a private key that is cut": ("x -----BEGIN OPENSSH PRIVATE KEY-----\nb3BlbnNz", "b3BlbnNz"),
}


@pytest.mark.parametrize("what", SECRETS)
def test_a_secret_is_not_shown(what: str) -> None:
    text, secret = SECRETS[what]
    shown = redact(f"before {text} ")
    assert secret not in shown
    assert shown.startswith("before ")
    assert "[redacted: " in shown


@pytest.mark.parametrize(
    "text",
    [
        "the token count is 5",
        "def get_token(self): return 1",
        "my secret is out",
        "https://example.org:8080/a?page=2",
        "-----BEGIN PUBLIC KEY-----\nMIIE\n-----END PUBLIC KEY-----",
        "a task-with-a-long-name-in-kebab-case",
        "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855",
        "找到 3 个匹配",
    ],
)
def test_what_is_no_secret_stays(text: str) -> None:
    assert redact(text) == text


def test_a_field_is_hidden_by_its_name_alone() -> None:
    hidden: dict[str, Any] = {"apiKey": "a", "clientSecret": "b", "password": 12345, "authTokens": ["c"]}
    shown: dict[str, Any] = {"path": "src/token.py", "author": "me", "max_tokens": 4096, "has_password": True}
    assert redact_value({"deep": [hidden]}) == {"deep": [dict.fromkeys(hidden, "[redacted: secret]")]}
    assert redact_value(shown) == shown


@given(st.text(), st.sampled_from(sorted(SECRETS)), st.text())
def test_redacting_twice_changes_nothing_more(before: str, what: str, after: str) -> None:
    once = redact(f"{before} {SECRETS[what][0]} {after}")
    assert redact(once) == once


@pytest.mark.parametrize("piece", ["a.", "token.", "secret ", "http://", "password = ", "eyJaaaaaaaa.", "&key"])
def test_long_text_takes_time_in_proportion(piece: str) -> None:
    with bounded():
        redact(piece * (1_000_000 // len(piece)))
