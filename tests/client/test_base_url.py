"""Which addresses a request may go to, and the form they are kept in."""

from __future__ import annotations

import pytest

from lib.client.base_url import is_loopback, normalise, refuse_resolved, warnings
from lib.errors import BaseUrlRefused


@pytest.mark.parametrize("text", [
    "", "   ", "file:///etc/passwd", "ftp://example.test", "javascript:alert(1)", "example.test", "http://", "//h",
    "http://user:pw@example.test/", "http://sk-key@example.test", "http://example.test:99999/", "http://h:0",
    "http://h:x", "http://[::1", "http://ex ample", "http://h\\@169.254.169.254", "http://h/?key=1", "http://h/#x",
    "http://h\u200b", "http://%31%36%39.254.169.254/",
    # the metadata services of cloud machines, by name and by address
    "http://169.254.169.254/latest/meta-data", "http://169.254.169.254./", "HTTP://169.254.170.2:80",
    "http://metadata.google.internal/", "http://METADATA.google.internal.", "http://metadata",
    "http://100.100.100.200", "http://168.63.129.16", "http://[fd00:ec2::254]/", "http://[fe80::1]/",
    # the same addresses in disguise
    "http://2852039166/", "http://0xa9fea9fe/", "http://0XA9.0xfe.0xa9.0xfe", "http://0251.0376.0251.0376/",
    "http://169.254.43518/", "http://127.1/", "http://169\u3002254\u3002169\u3002254/",
    "http://[::ffff:169.254.169.254]/", "http://[::ffff:a9fe:a9fe]/", "http://[::a9fe:a9fe]/",
    "http://[64:ff9b::a9fe:a9fe]/", "http://[2002:a9fe:a9fe::1]/",
    "http://255.255.255.255", "http://224.0.0.1",
])
def test_an_address_that_no_request_may_go_to_is_refused_in_one_line(text: str):
    with pytest.raises(BaseUrlRefused) as caught:
        normalise(text)
    assert len(str(caught.value)) > 20 and "\n" not in str(caught.value)


def test_a_refusal_does_not_repeat_a_password():
    with pytest.raises(BaseUrlRefused) as caught:
        normalise("http://user:secret@example.test/")
    assert "secret" not in str(caught.value)


@pytest.mark.parametrize("text, url", [
    ("http://localhost:11434", "http://localhost:11434"),
    ("http://localhost:11434/", "http://localhost:11434"),
    ("http://localhost:11434/v1", "http://localhost:11434"),
    ("http://localhost:1234/v1/", "http://localhost:1234"),
    (" http://127.0.0.1:1234 ", "http://127.0.0.1:1234"),
    ("localhost:11434", "http://localhost:11434"),
    ("http://h:8080/v1/messages", "http://h:8080"),
    ("http://h/v1/v1//", "http://h"),
    ("HTTPS://OpenRouter.ai/api/v1", "https://openrouter.ai/api"),
    ("https://example.test/anthropic", "https://example.test/anthropic"),
    ("http://example.test/v1beta", "http://example.test/v1beta"),
    ("http://192.168.1.20:8080/v1", "http://192.168.1.20:8080"),
    ("http://10.0.0.7", "http://10.0.0.7"),
    ("http://[::1]:8080/v1", "http://[::1]:8080"),
    ("http://[fd12::7]", "http://[fd12::7]"),
    ("http://0.0.0.0:4000", "http://0.0.0.0:4000"),
])
def test_a_usable_address_is_kept_in_one_form(text: str, url: str):
    assert normalise(text) == url
    assert normalise(url) == url


@pytest.mark.parametrize("address", ["169.254.169.254", "fe80::1%eth0", "::ffff:169.254.169.254"])
def test_a_name_for_a_refused_address_is_refused_when_it_is_resolved(address: str):
    def resolve(host, port):
        return [(None, None, None, "", ("192.0.2.1", 0)), (None, None, None, "", (address, 0))]

    with pytest.raises(BaseUrlRefused, match="innocent.example.test"):
        refuse_resolved("http://innocent.example.test", resolve)


def test_a_name_for_a_home_server_or_one_that_nobody_knows_passes():
    def unknown(host, port):
        raise OSError("Name or service not known")

    refuse_resolved("http://nas.example.test", lambda host, port: [(None, None, None, "", ("192.168.1.20", 0))])
    refuse_resolved("http://nowhere.example.test", unknown)


def test_a_key_over_plain_http_to_another_machine_warns():
    [warning] = warnings("http://192.168.1.20:8080", "sk-secret")
    assert "192.168.1.20" in warning and "sk-secret" not in warning


@pytest.mark.parametrize("url, key", [
    ("http://192.168.1.20", ""), ("https://example.test", "k"), ("http://localhost:1", "k"), ("http://[::1]:1", "k"),
])
def test_no_key_encryption_or_this_machine_do_not_warn(url: str, key: str):
    assert warnings(url, key) == []


def test_this_machine_is_known_by_all_its_names():
    assert all(map(is_loopback, ["http://localhost:1", "http://127.0.0.1", "http://127.9.9.9", "http://[::1]",
                                 "http://0.0.0.0:4000"]))
    assert not any(map(is_loopback, ["http://192.168.1.1", "https://api.anthropic.com", "http://localhost.evil.test"]))
