"""A key is planted and then looked for in everything that is kept, told or handed out: it must be nowhere.

The servers here do what real ones do at their worst: they repeat the key in whatever they answer.
"""

from __future__ import annotations

import base64
import gzip
import io
import logging
import os
import traceback
import urllib.parse
import zipfile
from collections.abc import Callable, Iterator
from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import Any

import pytest
from streamlit import config
from streamlit.testing.v1 import AppTest

from lib.catalog import empty_catalog
from lib.client import connect as connecting
from lib.client.connect import Connection, connect_api, connect_server
from lib.client.layers import Call, LayeredClient, layered
from lib.runs import recording
from lib.runs.job import Runs
from lib.runs.store import Run, Store
from lib.settings import ROOT, load
from lib.task.default_design import default_design
from lib.ui import export_menu, state
from tests.local_server import HTML, LocalServer, Received, Reply, message, refusal, serve, simulated
from tests.runs.test_job import TICKETS
from tests.survival.undisturbed import begin, wait_for

SECRET = "Zq7Xk2WvJ8mRt4Lp"          # of the key: half of it must not be found either
KEY = f"sk-ant-canary-{SECRET}"
HALVES = (SECRET[:8], SECRET[8:])
SETTINGS = replace(load({}), request_timeout=0.2)
DESIGN = replace(default_design(), k=2)
KEEPS_ON = 3        # requests that are answered well before the trouble begins

TROUBLE: dict[str, Reply | Callable[[Received], Reply]] = {
    "nothing": simulated,
    "401": refusal(401, "authentication_error", f"invalid x-api-key: {KEY}"),
    "401 with a key in quotes and lines": refusal(401, "authentication_error", f'no such key\n"{KEY}"\n'),
    "401 and a long text": refusal(401, "authentication_error", "x" * 990 + KEY),
    "400": refusal(400, "invalid_request_error", f"headers were {{'x-api-key': '{KEY}'}}"),
    "403": refusal(403, "permission_error", f"{KEY} may not do this"),
    "404": refusal(404, "not_found_error", f"model: claude-haiku-5-5 for {KEY}"),
    "402 as plain text": Reply(402, f"pay for {KEY}", {"content-type": "text/plain"}),
    "500": refusal(500, "api_error", f"could not look up {KEY}"),
    "error of another shape": Reply(400, {"detail": {"headers": {"x-api-key": KEY}}}),
    "error in a 200": Reply(200, {"error": f"no endpoint for {KEY}"}),
    "a page in a 200": Reply(200, HTML.replace("sign in", f"sign in, {KEY}")),
    "broken JSON": Reply(200, '{"type": "mess' + KEY, {"content-type": "application/json"}),
    "sent elsewhere": Reply(302, "", {"location": f"http://elsewhere.invalid/{KEY}/v1/messages?key={KEY}"}),
    "in a header": Reply(401, refusal(401, "authentication_error", "no").body, {"x-request-id": KEY}),
    "busy for long": refusal(429, "rate_limit_error", f"{KEY} is too fast", retry_after="600"),
    "no answer in time": Reply(200, message().body, seconds=0.6),
    "a broken connection": Reply(200, message().body, sent=20),
    "in the answer": message(f"Your headers: x-api-key: {KEY}", model=KEY),
}

WELL = ("nothing", "in the answer")

MODES = {"live": lambda server: partial(connect_api, SETTINGS, KEY, server.url),
         "server": lambda server: partial(connect_server, SETTINGS, server.url, KEY)}


def holds_key(text: str | bytes) -> bool:
    """Whether the key, or half of it, is in there: as it is, in base64, or escaped for a URL."""
    found = text.encode("utf-8", "surrogatepass") if isinstance(text, str) else text
    coded = [base64.b64encode(f"{pad}{KEY}".encode())[8:-4] for pad in ("", "x", "xx")]
    return any(form in found for form in [*(half.encode() for half in HALVES), *coded,
                                          urllib.parse.quote(KEY, safe="").encode()])


def test_the_search_finds_a_key_in_any_form():
    assert holds_key(KEY) and holds_key(KEY[:-7]) and holds_key(base64.b64encode(f"user:{KEY}".encode()))
    assert not holds_key("sk-ant-canary-")


@pytest.fixture
def told(caplog) -> Iterator[Callable[[], str]]:
    """All that anybody logs, down to the last detail; as text with tracebacks."""
    with caplog.at_level(logging.DEBUG):
        for name in ("anthropic", "httpx2", "lib"):
            caplog.set_level(logging.DEBUG, name)
        yield lambda: "".join(f"{caplog.handler.format(record)} {record.args!r}\n" for record in caplog.records
                              if not record.name.startswith("httpcore2"))    # writes down headers as they arrive


@pytest.fixture(autouse=True)
def impatient_sdk(monkeypatch):
    import anthropic

    monkeypatch.setattr(anthropic._base_client, "INITIAL_RETRY_DELAY", 0.001)


def troubled(trouble: Reply | Callable[[Received], Reply]) -> Callable[[Received], Reply]:
    """A server that begins well."""
    answered = iter(range(KEEPS_ON))
    return lambda request: simulated(request) if next(answered, None) is not None or callable(trouble) else trouble


def keys_sent_to(server: LocalServer) -> set[str]:
    return {request.headers["authorization"].removeprefix("Bearer ") for request in server.received}


def ran(store: Store, connect: Callable[[], Connection], source: str) -> list[Run]:
    return wait_for(store, begin(store, Runs(store), connect, TICKETS, empty_catalog(), design=DESIGN, source=source))


def files_of(store: Store) -> Iterator[tuple[str, bytes]]:
    for file in Path(store.path).parent.iterdir():
        yield file.name, file.read_bytes()


def handed_out(store: Store, runs: list[Run]) -> Iterator[tuple[str, str | bytes]]:
    """Everything a person can take away."""
    yield "recording", gzip.decompress(recording.save(store, [run.id for run in runs]))
    export = export_menu.Export(store, [run.id for run in runs])
    yield from (("page", export.html()), ("markdown", export.markdown()))
    yield from ((f"{name}.{kind}", export.table(name, kind)) for name in export_menu.TABLES for kind in ("csv", "json"))
    with zipfile.ZipFile(io.BytesIO(export.workbook())) as workbook:
        yield from ((f"workbook {name}", workbook.read(name)) for name in workbook.namelist())
    yield "rows", repr([run for run in runs] + [call for run in runs for call in store.calls(run.id)])
    yield "requests and replies", repr([store.exchange(call.id) for run in runs for call in store.calls(run.id)])


@pytest.mark.parametrize("mode", MODES)
@pytest.mark.parametrize("trouble", TROUBLE)
def test_the_key_is_in_nothing_that_a_run_leaves_behind(tmp_path, monkeypatch, told, capfd, mode, trouble):
    monkeypatch.setenv("PLAYGROUND_STORE", str(tmp_path / "runs.sqlite"))
    store = Store(tmp_path / "runs.sqlite")
    with serve(script=troubled(TROUBLE[trouble])) as server:
        runs = ran(store, MODES[mode](server), mode)
        assert len(server.received) > KEEPS_ON and keys_sent_to(server) == {KEY}
    assert all(bool(store.totals(run.id).errors) == (trouble not in WELL) for run in runs)
    leaks = [what for what, content in [*handed_out(store, runs), *files_of(store)] if holds_key(content)]
    said = capfd.readouterr()
    assert leaks == [] and not holds_key(told()) and not holds_key(said.out + said.err)
    assert not any(map(holds_key, [*os.environ.values()]))
    store.close()


@pytest.mark.parametrize("mode", MODES)
@pytest.mark.parametrize("trouble", [name for name in TROUBLE if name not in WELL])
def test_the_key_is_in_no_traceback(mode, trouble):
    with serve(TROUBLE[trouble]) as server, pytest.raises(Exception) as caught:
        connection = MODES[mode](server)()
        connection.client.messages.create(model="claude-haiku-5-5", max_tokens=10,
                                          messages=[{"role": "user", "content": "hello"}])
    assert not holds_key(whole_story(caught.value))


def whole_story(error: BaseException) -> str:
    """An error with all that led to it, also what its traceback leaves out."""
    parts, seen = ["".join(traceback.format_exception(error))], set()
    while error is not None and id(error) not in seen:
        seen.add(id(error))
        parts.append(repr(error) + repr(vars(error)))
        error = error.__cause__ or error.__context__
    return "\n".join(parts)


def test_a_bug_in_a_layer_logs_its_traceback_without_the_key(tmp_path, told):
    def buggy(call: Call, call_next: Any) -> Any:
        call_next(call)
        raise RuntimeError("a bug after the call")

    def connect() -> Connection:
        made = connect_api(SETTINGS, KEY, server.url)
        return replace(made, client=layered(made.client, buggy))

    store = Store(tmp_path / "runs.sqlite")
    with serve(script=simulated) as server:
        runs = ran(store, connect, "live")
    assert "a bug after the call" in told() and not holds_key(told())
    assert {run.status for run in runs} == {"failed"} and not any(holds_key(data) for _, data in files_of(store))
    store.close()


@pytest.mark.parametrize("mode", MODES)
def test_no_object_shows_the_key_when_it_is_printed(mode):
    with serve(script=simulated) as server:
        connect = MODES[mode](server)
        connection = connect()
    assert isinstance(connection.client, LayeredClient)
    assert not holds_key(repr(connection) + str(connection) + repr(vars(connection)) + repr(vars(connection.client)))


@pytest.mark.parametrize("key", [f"{KEY} {KEY}", f"{KEY}\u2026", f"{KEY}\nx"])
@pytest.mark.parametrize("mode", ["live", "server"])
def test_a_key_that_cannot_be_one_is_not_repeated(mode, key):
    connect = {"live": partial(connect_api, SETTINGS, key),
               "server": partial(connect_server, SETTINGS, "localhost:1", key)}
    with pytest.raises(Exception) as caught:
        connect[mode]()
    assert not holds_key(whole_story(caught.value))


# --- the pages -------------------------------------------------------------------------------------------------------

PAGES = ("start", "data", "design", "run", "costs", "history")
HOLDERS = ("connection", "run.connection.key", "run.connection.server_key")     # in memory, where it was typed


@pytest.fixture
def playground(tmp_path, monkeypatch) -> Path:
    for name in [name for name in os.environ if name.startswith(("PLAYGROUND_", "ANTHROPIC_"))]:
        monkeypatch.delenv(name)
    monkeypatch.setenv("PLAYGROUND_STORE", str(tmp_path / "runs.sqlite"))
    monkeypatch.chdir(ROOT)
    config.set_option("server.address", "localhost")
    config.set_option("client.showErrorDetails", "full")
    return tmp_path


def type_key(app: AppTest, mode: str, server: LocalServer) -> AppTest:
    app.radio(key="run.connection.kind").set_value(mode).run()
    if mode == "server":
        app.text_input(key="run.connection.base_url").set_value(server.url).run()
    return app.text_input(key={"live": "run.connection.key", "server": "run.connection.server_key"}[mode]
                          ).set_value(KEY).run()


def shown(app: AppTest) -> str:
    """All that was sent to the browser, and the address."""
    return "".join(str(getattr(node, "proto", "")) for node in app) + repr(dict(app.query_params.items()))


def remembered(app: AppTest) -> str:
    kept = app.session_state._state.filtered_state
    return repr({name: value for name, value in kept.items() if name not in HOLDERS})


@pytest.mark.parametrize("mode", ["live", "server"])
@pytest.mark.parametrize("trouble", ["nothing", "401"])
def test_the_key_is_on_no_page_and_in_no_session_but_its_own(playground, monkeypatch, told, mode, trouble):
    with serve(script=troubled(TROUBLE[trouble])) as server:
        monkeypatch.setattr(connecting, "connect_api", partial(connect_api, address=server.url))
        app = AppTest.from_file(str(ROOT / "app.py"), default_timeout=30).run()
        app.switch_page("pages/run.py").run()
        type_key(app, mode, server)
        app.button(key="run.start").click().run()
        ended = wait_for(state.store(), state.store().runs())
        assert {run.status for run in ended} == {"done" if trouble == "nothing" else "failed"}
        assert keys_sent_to(server) == {KEY}
    pages = {page: app.switch_page(f"pages/{page}.py").run() and (shown(app), remembered(app)) for page in PAGES}
    assert [page for page, texts in pages.items() if any(map(holds_key, texts))] == []
    assert not holds_key(repr(app.session_state["desk"])) and not holds_key(told())
    other = AppTest.from_file(str(ROOT / "app.py"), default_timeout=30).run()
    other.switch_page("pages/run.py").run()
    assert not holds_key(shown(other) + repr(other.session_state._state.filtered_state))
    assert not any(holds_key(data) for _, data in files_of(state.store()))
