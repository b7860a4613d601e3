from __future__ import annotations

import json
from pathlib import Path

import trustme

from cli.processes import ANSWER, Here, Place, started


def test_every_client_speaks_tls_and_trusts_only_what_it_is_told_to(place: Place, here: Here, tmp_path: Path) -> None:
    authority = trustme.CA()
    server = authority.issue_cert("localhost")
    cert, key, ca = tmp_path / "cert.pem", tmp_path / "key.pem", tmp_path / "ca.pem"
    server.cert_chain_pems[0].write_to_path(str(cert))
    server.private_key_pem.write_to_path(str(key))
    authority.cert_pem.write_to_path(str(ca))
    with place.gateway("--cert", str(cert), "--key", str(key)) as (_, plain):
        url = plain.replace("ws://127.0.0.1", "wss://localhost")
        for words in (("chat", "-m", "open it"), ("ide", str(place.project)), ("sessions",)):
            stranger = here(*words, "--url", url)
            assert stranger.returncode == 1, words
            assert "certificate" in stranger.stderr
        trusted = ("--url", url, "--ca", str(ca))
        assert here("chat", "-m", "open it", "--session", "one", *trusted).stdout == ANSWER
        assert json.loads(here("sessions", "--json", *trusted).stdout)["name"] == "one"
        with started("ide", str(place.project), "--session", "two", "--json", *trusted, state=tmp_path) as ide:
            ide.event("connected")
            assert here("chat", "-m", "open it", "--session", "two", "--tools", "client", *trusted).stdout == ANSWER
