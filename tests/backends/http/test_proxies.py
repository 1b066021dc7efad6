"""Proxies and certificates of the environment, by a proxy and a TLS server of this machine."""

import asyncio
import base64
import shutil

import pytest
from raw_servers import Proxy, RawServer, certified, listening, transport_to

from nuggetjudge.backends import http, open_backend
from nuggetjudge.backends.batch.calls import BatchCalls
from nuggetjudge.backends.batch.ledger import Sent
from nuggetjudge.backends.config import ModelConfig
from nuggetjudge.backends.errors import EndpointError, EndpointUnusable
from nuggetjudge.backends.http import find_proxy

HERE = ("127.0.0.1:8000", "127.8.8.8", "127.1", "localhost:8000", "LOCALHOST.", "[::1]:8000")
HOST = "endpoint.test"  # no name server knows it, so that only a proxy gets there


@pytest.fixture(autouse=True)
def plain_environment(monkeypatch):
    for name in ("http_proxy", "https_proxy", "all_proxy", "no_proxy"):
        for each in (name, name.upper()):
            monkeypatch.setenv(each, "")  # so that what a test sets is taken back
            monkeypatch.delenv(each)
    for name in ("SSL_CERT_FILE", "SSL_CERT_DIR", "REQUEST_METHOD"):
        monkeypatch.delenv(name, raising=False)


@pytest.fixture(scope="session")
def ca_and_tls(tmp_path_factory):
    if shutil.which("openssl") is None:
        pytest.skip("no openssl command to make certificates with")
    return certified(tmp_path_factory.mktemp("certificates"))


def through(monkeypatch, server, scheme="http", *, tls=None, user="", refuses=b"", n=1, **settings):
    """Ask the endpoint HOST n times through a proxy; returns the texts and the proxy's heads."""

    async def go():
        async with listening(server, tls) as port:
            proxy = Proxy(port, refuses)
            async with listening(proxy) as proxy_port:
                where = f"http://{user}127.0.0.1:{proxy_port}"
                monkeypatch.setenv(f"{scheme.upper()}_PROXY", where)
                base = f"{scheme}://{HOST}/v1"
                async with transport_to(base, timeout_s=5.0, **settings) as client:
                    try:
                        return [(await client.send(b"body")).text for _ in range(n)], proxy.heads
                    except EndpointError as error:
                        return error, proxy.heads

    return asyncio.run(go())


def test_a_request_goes_through_the_http_proxy_of_the_environment(monkeypatch):
    server = RawServer()
    texts, (head,) = through(monkeypatch, server, n=2)
    assert texts == ["yes", "yes"]
    assert head.startswith(b"POST http://endpoint.test/v1/chat/completions HTTP/1.1\r\n")
    assert b"Proxy-Authorization" not in head
    assert (len(server.requests), server.n_connections) == (2, 1)


def test_a_request_by_tls_goes_through_a_tunnel_which_sees_none_of_it(monkeypatch, ca_and_tls):
    ca, tls = ca_and_tls
    monkeypatch.setenv("SSL_CERT_FILE", ca)
    monkeypatch.setenv("MY_KEY", "sk-0123456789")
    server = RawServer()
    texts, (head,) = through(monkeypatch, server, "https", tls=tls, n=2, api_key_env="MY_KEY")
    assert texts == ["yes", "yes"]
    assert head.startswith(b"CONNECT endpoint.test:443 HTTP/1.1\r\n")
    assert b"sk-0123456789" not in head
    assert b"Authorization" not in head
    assert b"Authorization: Bearer sk-0123456789" in server.requests[0]
    assert (len(server.requests), server.n_connections) == (2, 1)


@pytest.mark.parametrize("scheme", ["http", "https"])
def test_a_proxys_user_and_password_go_to_the_proxy_alone(scheme, monkeypatch, ca_and_tls):
    ca, tls = ca_and_tls
    monkeypatch.setenv("SSL_CERT_FILE", ca)
    server = RawServer()
    tls = tls if scheme == "https" else None
    texts, (head,) = through(monkeypatch, server, scheme, tls=tls, user="me:p%40ss@")
    assert texts == ["yes"]
    assert b"Proxy-Authorization: Basic " + base64.b64encode(b"me:p@ss") in head
    if scheme == "https":
        assert b"Proxy-Authorization" not in server.requests[0]


def test_a_proxy_that_refuses_the_tunnel_is_an_error_without_its_password(monkeypatch):
    kept = {"user": "me:secret-word@"}
    for status, retryable in ((b"502 Bad Gateway", True), (b"403 Forbidden", False)):
        error, heads = through(monkeypatch, RawServer(), "https", refuses=status, **kept)
        assert len(heads) == 1
        assert status[:3].decode() in str(error)
        assert error.retryable is retryable
        assert "secret-word" not in str(error)


def test_what_is_for_this_machine_goes_past_the_proxy_with_its_key(monkeypatch):
    async def go():
        server = RawServer()
        async with listening(server) as port, listening(Proxy(port)) as proxy_port:
            monkeypatch.setenv("HTTP_PROXY", f"http://127.0.0.1:{proxy_port}")
            monkeypatch.setenv("MY_KEY", "sk-0123456789")
            base = f"http://127.0.0.1:{port}/v1"
            async with transport_to(base, api_key_env="MY_KEY") as client:
                assert (await client.send(b"x")).text == "yes"
            assert b"Authorization: Bearer sk-0123456789" in server.requests[0]
            assert server.requests[0].startswith(b"POST /v1/")  # a proxy is asked by the whole URL

    asyncio.run(go())


# by model, its base URL and the variable: what is said of the proxy, and whether it can read
SAID = {
    "http": ("openai/m", "http://a.test/v1", "HTTP_PROXY", "a.test", True),
    "https": ("openai/m", "https://a.test/v1", "HTTPS_PROXY", "a.test", False),
    "a provider": ("anthropic/m", None, "HTTPS_PROXY", "anthropic/m", False),
    "LiteLLM and all": ("anthropic/m", None, "ALL_PROXY", "anthropic/m", False),
}


@pytest.mark.parametrize(("model", "base", "name", "of", "reads"), SAID.values(), ids=SAID.keys())
def test_a_proxy_is_said_once_before_anything_is_asked(
    model, base, name, of, reads, monkeypatch, caplog
):
    monkeypatch.setattr(http, "_announced", set())
    monkeypatch.setenv("OPENAI_API_KEY", "sk-0123456789")
    monkeypatch.setenv("ANTHROPIC_API_KEY", "sk-0123456789")
    monkeypatch.setenv(name, "http://me:secret-word@p.test:3128")
    for _ in range(2):
        open_backend(ModelConfig(model=model, api_base=base))
    [record] = caplog.records
    said = record.getMessage()
    assert said.startswith(f"Requests to {of} go through the proxy http://p.test:3128 ({name})")
    assert ("can read them" in said) is reads


def test_batches_go_through_the_proxy_too(monkeypatch, tmp_path):
    async def go():
        server = RawServer()
        async with listening(server) as port:
            proxy = Proxy(port, refuses=b"200 OK")
            async with listening(proxy) as proxy_port:
                monkeypatch.setenv("HTTP_PROXY", f"127.0.0.1:{proxy_port}")
                config = ModelConfig(model="openai/m", api_base=f"http://{HOST}/v1")
                calls = BatchCalls(config, tmp_path / "ledger")
                with pytest.raises(EndpointError, match="not JSON"):
                    await calls.find(Sent("x", []))
                await calls.aclose()
            assert proxy.heads[0].startswith(b"GET http://endpoint.test/v1/batches?limit=100 ")

    asyncio.run(go())


@pytest.mark.parametrize(
    ("url", "environment", "proxy"),
    [
        ("http://a.test/v1", {"HTTP_PROXY": "http://p.test:3128"}, "http://p.test:3128"),
        ("http://a.test/v1", {"http_proxy": "p.test:3128"}, "http://p.test:3128"),
        ("http://a.test/v1", {"HTTPS_PROXY": "http://p.test:3128"}, None),
        ("https://a.test/v1", {"HTTPS_PROXY": "http://me:you@p.test"}, "http://p.test/"),
        ("https://a.test/v1", {"HTTP_PROXY": "http://p.test:3128"}, None),
        ("https://a.test/v1", {"ALL_PROXY": "http://p.test:3128"}, None),
        ("https://b.a.test/v1", {"HTTPS_PROXY": "http://p.test", "NO_PROXY": ".a.test"}, None),
        ("https://a.test/v1", {"HTTPS_PROXY": ""}, None),
        *((f"http://{host}/v1", {"HTTP_PROXY": "http://p.test"}, None) for host in HERE),
        ("http://127.a.test/v1", {"HTTP_PROXY": "http://p.test"}, "http://p.test"),
        ("http://10.0.0.1/v1", {"HTTP_PROXY": "http://p.test"}, "http://p.test"),
    ],
)
def test_which_proxy_serves_a_url(url, environment, proxy, monkeypatch):
    for name, value in environment.items():
        monkeypatch.setenv(name, value)
    chosen, _ = find_proxy(url)
    assert (None if chosen is None else str(chosen).rstrip("/")) == (proxy and proxy.rstrip("/"))


@pytest.mark.parametrize(
    "proxy", ["socks5://me:word@p.test:1080", "https://me:word@p.test", "http://"]
)
def test_a_proxy_of_another_kind_is_refused_by_the_name_of_its_variable(proxy, monkeypatch):
    monkeypatch.setenv("HTTPS_PROXY", proxy)
    with pytest.raises(EndpointUnusable, match="HTTPS_PROXY in the environment: only") as caught:
        find_proxy("https://a.test/v1")
    assert "word" not in str(caught.value)


# --- certificates


def ask_by_tls(tls, name="localhost"):
    async def go():
        async with (
            listening(RawServer(), tls) as port,
            transport_to(f"https://{name}:{port}/v1", timeout_s=5.0) as client,
        ):
            return (await client.send(b"x")).text

    return asyncio.run(go())


def test_a_server_with_a_ca_of_its_own_is_trusted_by_ssl_cert_file(monkeypatch, ca_and_tls):
    ca, tls = ca_and_tls
    with pytest.raises(EndpointError, match=r"CertificateError: .*VERIFY_FAILED") as caught:
        ask_by_tls(tls)
    assert caught.value.retryable
    monkeypatch.setenv("SSL_CERT_FILE", ca)  # after aiohttp was imported
    assert ask_by_tls(tls) == "yes"


def test_a_certificate_for_another_name_is_refused(monkeypatch, ca_and_tls):
    ca, tls = ca_and_tls
    monkeypatch.setenv("SSL_CERT_FILE", ca)
    with pytest.raises(EndpointError, match=r"CertificateError: .*IP address mismatch"):
        ask_by_tls(tls, "127.0.0.1")
