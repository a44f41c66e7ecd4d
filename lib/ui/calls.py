"""Every call of a group as a table; a chosen one opens to its exact request and reply."""

from __future__ import annotations

import json
from collections import Counter
from dataclasses import dataclass
from typing import Any

import streamlit as st

from lib.messages import blocks, get
from lib.phrases import plural
from lib.runs.store import CallRow, Run
from lib.tickets.visible import visible
from lib.ui import connection, go_to, live, own_prices, sent_back, state
from lib.ui import format as fmt

SHOWN = 2_000       # rows sent to the browser at once
HELP = {
    "stop": "stop_reason: why the model ended its reply. end_turn: it was done; tool_use: it asks for a tool; "
            "max_tokens: it was cut off.",
    "fresh": "Input tokens at full price.",
    "write": "Input tokens written to the prompt cache, a little dearer.",
    "read": "Input tokens read from the prompt cache, much cheaper.",
    "thinking": "Output tokens that the model spent on thinking; billed as output.",
    "attempts": "Times the request was sent: what is refused with 429, 500 or 529 is sent again after a wait. Refused "
                "attempts cost nothing; the seconds count them and the waits.",
    "waited": "Of the seconds, those in which nothing was sent because the server was busy. They cost no tokens.",
    "note": "asked again: the reply was not what was asked for and was sent back with the reason. Both are paid. "
            "tool error: a tool it asked for gave an error instead of a result; the turn after reads the error. "
            "earlier reply: nothing was sent, an earlier run's reply to the very same request was taken, for nothing.",
    "outcome": "Of a label call the cause that the answer gives its ticket; of a turn the tools it asked for, whose "
               "results are in the request of the turn after.",
}
SILENT = {      # what says nothing; a column that holds only that is left out
    "cache write": (0,), "cache read": (0,), "thinking": (0, None), "attempts": (0, 1), "waited": (0,), "note": ("",),
    "error": ("",), "outcome": ("",)}
STOPS = {
    "end_turn": "the model was done", "tool_use": "it asks for a tool", "max_tokens": "cut off at the longest reply",
    "stop_sequence": "it wrote a stop sequence", "refusal": "it refused", "pause_turn": "it will go on when asked to",
    "model_context_window_exceeded": "the context window is full",
}


@dataclass(frozen=True)
class Row:
    """A call with its number within its run, in the order in which calls began."""

    run: Run
    call: CallRow
    number: int
    again: bool     # its reply was rejected, and the same was asked once more
    outcome: str = ""       # the cause of a label call's ticket, or the tools that a turn asked for
    tool_errors: int = 0    # how many of these tools gave an error


def calls(runs: list[Run]) -> None:
    rows = [row for run in runs for row in _numbered(run)]
    if not rows:
        st.caption("Every call will be here as it happens, each with its exact request and reply.")
        with st.container(key="calls_wait"):        # subtle: a polling fragment needs a container of its own
            st.fragment(_until_the_first, run_every=live.POLL if any(map(state.is_active, runs)) else None)(runs)
        return
    connection.origin(runs)
    shown = _filtered(rows)
    st.caption(_counts(rows))
    if not shown:
        st.caption("No call is left by these filters.")
        return
    wanted = go_to.wanted_call()
    opened = _table(shown, wanted)
    if opened:
        exchange(opened)
        if wanted:
            go_to.scroll_to(wanted, ".st-key-run_exchange")
    else:
        st.caption("Select a row to see its exact request and reply.")


def _until_the_first(runs: list[Run]) -> None:
    if any(state.calls(run.id) for run in runs):
        st.rerun()


def _numbered(run: Run) -> list[Row]:
    ordered = sorted(state.calls(run.id), key=lambda c: (c.started, c.id))
    again, outcomes = sent_back.ids(run, ordered), _asked_for(run, ordered) or _causes(run, ordered)
    return [Row(run, call, number, call.id in again, *outcomes.get(call.id, ()))
            for number, call in enumerate(ordered, start=1)]


def _asked_for(run: Run, ordered: list[CallRow]) -> dict[int, tuple[str, int]]:
    """Id of an agent's turn -> the tools it asked for, and how many of them gave an error.

    The last request repeats every turn before it, so one look into the store tells of all.
    """
    turns = [call for call in ordered if not call.error] if run.shape == "agent" else []
    if not turns:
        return {}
    request, reply = state.store().exchange(turns[-1].id)
    said = [*request.get("messages", []), *filter(None, [reply])]
    inside = [block for message in said for block in blocks(message)]
    failed = {get(b, "tool_use_id") for b in inside if get(b, "type") == "tool_result" and get(b, "is_error")}
    asked = [[b for b in blocks(m) if get(b, "type") == "tool_use"] for m in said if get(m, "role") == "assistant"]
    return {call.id: (_uses(uses), sum(get(use, "id") in failed for use in uses))
            for call, uses in zip(turns, asked, strict=False)}


def _causes(run: Run, ordered: list[CallRow]) -> dict[int, tuple[str, int]]:
    """Id of a label call -> the cause that its ticket has in the answer."""
    found = live.report(run)
    labels = found.labels if found else {}
    return {call.id: (visible(labels[call.subject]), 0) for call in ordered
            if call.step == "label" and call.subject in labels}


def _uses(uses: list[Any]) -> str:
    """"read_ticket: T-1004" for one with one short argument, else "read_ticket × 8, tally"."""
    names = Counter(str(get(use, "name", "")) for use in uses)
    told = ", ".join(name + (f" × {count}" if count > 1 else "") for name, count in names.items())
    given = list(get(uses[0], "input", {}).values()) if len(uses) == 1 else []
    return visible(fmt.cut(f"{told}: {given[0]}" if len(given) == 1 and isinstance(given[0], str) else told))


def _filtered(rows: list[Row]) -> list[Row]:
    shapes = list(dict.fromkeys(r.run.shape for r in rows))
    steps = list(dict.fromkeys(r.call.step for r in rows if r.call.step not in shapes))
    failed = any(r.call.error for r in rows)
    with st.container(horizontal=True, vertical_alignment="bottom"):
        shape = st.pills("Shape", shapes, key="run.filter.shape") if len(shapes) > 1 else None
        step = st.pills("Step", steps, key="run.filter.step") if len(steps) > 1 and shape != "agent" else None
        if failed:
            failed = st.toggle("Only errors", key="run.filter.errors")
    return [r for r in rows if (not shape or r.run.shape == shape) and (not step or r.call.step == step)
            and (not failed or r.call.error)]


def _counts(rows: list[Row]) -> str:
    again, failed = sum(r.again for r in rows), sum(bool(r.call.error) for r in rows)
    parts = [plural(len(rows), "call"), f"{failed:,} failed" if failed else "no call failed"]
    if taken := sum(r.call.cached for r in rows):
        parts.append(f"{taken:,} from earlier replies, free")
    if again:
        parts.append(f"{plural(again, 'reply', 'replies')} rejected and asked again")
    if cut := sum(r.call.stop_reason == "max_tokens" for r in rows):
        parts.append(f"{plural(cut, 'reply', 'replies')} cut off at max_tokens")
    if refused := sum(r.tool_errors for r in rows):
        parts.append(f"{plural(refused, 'tool call')} gave an error")
    if repeated := sum(max(r.call.attempts - 1, 0) for r in rows):
        parts.append(f"{plural(repeated, 'attempt')} failed at a busy or broken server and sent again")
    if waited := sum(r.call.waited for r in rows):
        parts.append(f"{fmt.seconds(waited)} waited for a busy server, all calls together")
    if unknown := sum(r.call.usd is None and _unanswered(r.call) for r in rows):
        parts.append(f"{plural(unknown, 'failed call')} of unknown cost")
    if unpriced := sum(r.call.usd is None and not _unanswered(r.call) for r in rows):
        parts.append(f"{plural(unpriced, 'call')} without a price")
    return " · ".join(parts)


def _table(rows: list[Row], wanted: int | None) -> Row | None:
    """The table, and the row that is open: that of the `wanted` call, else the one chosen in it. It is remembered by
    its call, since calls that end meanwhile move the rows."""
    session = st.session_state
    key = session.setdefault("_calls_key", "run.calls")
    selected = session.get(key, {}).get("selection", {}).get("rows", [])
    opened = wanted or _seen_at(selected, [r.call.id for r in rows])
    rows = _around(rows, opened)
    ids = [r.call.id for r in rows]
    now = [ids.index(opened)] if opened in ids else []
    if now != list(selected):       # a table is told what is selected only when it is new
        session["_calls_remade"] = session.get("_calls_remade", 0) + 1
        key = session["_calls_key"] = f"run.calls.{session['_calls_remade']}"
    session["_calls_seen"] = ids
    priced = all(r.call.usd is not None for r in rows)
    replayed = all(r.run.source == "replay" for r in rows)
    st.dataframe(_told([_cells(r, priced) for r in rows]), hide_index=True, key=key, on_select="rerun",
                 selection_mode="single-row", selection_default={"selection": {"rows": now}}, height=360,
                 placeholder=fmt.NOT_REPORTED, column_config=_columns(priced, replayed),
                 alt="Every call: step, tokens, cost, seconds")
    return rows[now[0]] if now else None


def _seen_at(selected: list[int], ids: list[int]) -> int | None:
    """The id of the selected call, as the browser speaks of it: by its place in what it shows."""
    seen = st.session_state.get("_calls_seen", ids)
    return seen[selected[0]] if selected and selected[0] < len(seen) else None


def _around(rows: list[Row], opened: int | None) -> list[Row]:
    """As many as are sent to the browser, the opened call among them."""
    place = next((n for n, row in enumerate(rows) if row.call.id == opened), 0)
    first = place // SHOWN * SHOWN
    if len(rows) > SHOWN:
        st.caption(f"calls {first + 1:,} to {min(first + SHOWN, len(rows)):,} of {len(rows):,}; filter to see others")
    return rows[first:first + SHOWN]


def _cells(row: Row, priced: bool) -> dict[str, Any]:
    call = row.call
    return {
        "#": row.number, "shape": row.run.shape, "step": call.step, "about": call.subject, "outcome": row.outcome,
        "seconds": call.seconds, "stop reason": call.stop_reason or ("error" if call.error else "none"),
        "fresh input": call.fresh,
        "cache write": _sum(call.write_5m, call.write_1h), "cache read": call.cache_read, "output": call.output,
        "thinking": call.thinking, "cost": call.usd if priced else _cost(call), "attempts": call.attempts,
        "waited": call.waited,
        "note": ", ".join(["earlier reply"] * call.cached + ["asked again"] * row.again
                          + ["tool error"] * bool(row.tool_errors)),
        "error": visible(call.error or ""),
    }


def _cost(call: CallRow) -> str:
    return "unknown" if call.usd is None and _unanswered(call) else fmt.dollars(call.usd)


def _unanswered(call: CallRow) -> bool:
    """Nothing came back that could say what it took; that is no matter of its price."""
    return bool(call.error) and call.input is None and call.output is None


def _told(cells: list[dict[str, Any]]) -> list[dict[str, Any]]:
    """Without the columns that say nothing in any row."""
    mute = {name for name, silent in SILENT.items() if all(row[name] in silent for row in cells)}
    return [{name: value for name, value in row.items() if name not in mute} for row in cells]


def _sum(*parts: int | None) -> int | None:
    known = [p for p in parts if p is not None]
    return sum(known) if known else None


def _columns(priced: bool, replayed: bool) -> dict[str, Any]:
    column = st.column_config
    tokens = {name: column.NumberColumn(name, format="localized", help=HELP.get(key)) for name, key in (
        ("fresh input", "fresh"), ("cache write", "write"), ("cache read", "read"), ("output", ""),
        ("thinking", "thinking"))}
    label = "would list" if replayed else "cost"
    cost = {"cost": column.NumberColumn(label, format="$%.6f") if priced else column.TextColumn(label)}
    return {**tokens, **cost, "seconds": column.NumberColumn("seconds", format="%.2f"),
            "#": column.NumberColumn("#", width="small", help="Number of the call within its run, by when it began."),
            "stop reason": column.TextColumn("stop reason", help=HELP["stop"]),
            "attempts": column.NumberColumn("attempts", help=HELP["attempts"]),
            "waited": column.NumberColumn("waited", format="%.2f", help=HELP["waited"]),
            "outcome": column.TextColumn("outcome", help=HELP["outcome"]),
            "note": column.TextColumn("note", help=HELP["note"])}


# --- one call --------------------------------------------------------------------------------------------------------


def exchange(row: Row) -> None:
    """The exact request and reply of a call; what it added since the call before is what is open."""
    run, call = row.run, row.call
    request, reply = state.store().exchange(call.id)
    with st.container(border=True, key="run_exchange"):
        with st.container(horizontal=True, vertical_alignment="center", gap="small"):
            st.markdown(f"**:{live.COLOUR.get(run.shape, 'gray')}[{run.shape.capitalize()}]** · call {row.number:,}",
                        width="content")
            connection.badge(run.source)
        st.text(f"{_about(call)} · {call.model} · {fmt.seconds(call.seconds)}{_attempts(call)} · {_took(run, call)}")
        left, right = st.columns(2)
        with left:
            _request(run, call, request)
        with right:
            _reply(call, reply)


def _took(run: Run, call: CallRow) -> str:
    """Tokens and dollars; of a call without a reply only whether it may have been billed."""
    if _unanswered(call):
        return "no reply, nothing billed" if call.usd == 0 else "no reply, so what was billed is not known"
    return (f"{fmt.exact(call.input)} input{_cached(call)} / {fmt.exact(call.output)} output tokens · "
            f"{_would_list(run)}{fmt.dollars(call.usd)}{_own_price(run, call)}")


def _about(call: CallRow) -> str:
    return " · ".join(visible(part) for part in (call.step, call.subject) if part)


def _attempts(call: CallRow) -> str:
    """" in 3 attempts, of which waited 12 s for a busy server"; "" where the first was the last and went at once."""
    if call.cached:
        return ", an earlier run's reply to the very same request"
    tries = f" in {call.attempts} attempts" if call.attempts > 1 else ""
    if call.waited:
        return f"{tries}, of which waited {fmt.seconds(call.waited)} for a busy server"
    return f"{tries}, waits included" if tries else ""


def _would_list(run: Run) -> str:
    return "would list " if run.source == "replay" else ""


def _own_price(run: Run, call: CallRow) -> str:
    mine = call.usd is not None and own_prices.set_by_person(run.prices, [call.model])
    return f" at the price {own_prices.MINE}" if mine else ""


def _cached(call: CallRow) -> str:
    """" (200 fresh + 1,900 written for 5 minutes + 0 read from the cache)"; "" where no cache is in play."""
    written = {"5 minutes": call.write_5m or 0, "1 hour": call.write_1h or 0}
    if not any(written.values()) and not call.cache_read:
        return ""
    parts = [f"{fmt.exact(tokens)} written for {kept}" for kept, tokens in written.items() if tokens]
    return f" ({' + '.join([f'{fmt.exact(call.fresh)} fresh', *parts, f'{fmt.exact(call.cache_read)} read'])})"


def _request(run: Run, call: CallRow, request: dict[str, Any]) -> None:
    st.markdown("**Request**")
    with st.expander("System prompt", type="compact"):
        _code(_text(request.get("system", "")) or "(none)")
    if tools := request.get("tools"):
        with st.expander(f"Tools · {len(tools)}", type="compact"):
            st.json(tools, expanded=1)
    _messages(request.get("messages", []), _sent_before(run, call))
    with st.expander("Raw JSON", type="compact"):
        st.json(request, expanded=1)


def _messages(messages: list[dict[str, Any]], before: int) -> None:
    if before:
        with st.expander(f"Resent from the call before · {plural(before, 'message')}", type="compact"):
            for message in messages[:before]:
                _message(message)
        st.caption(f"new in this call: {plural(len(messages) - before, 'message')}")
    for message in messages[before:]:
        _message(message)


def _sent_before(run: Run, call: CallRow) -> int:
    """How many leading messages of this call's conversation the call before it had sent already."""
    earlier = [c for c in state.calls(run.id) if c.id < call.id and c.step == call.step
               and (call.step == "agent" or c.subject == call.subject)]
    if not earlier:
        return 0
    now = state.store().exchange(call.id)[0].get("messages", [])
    then = state.store().exchange(earlier[-1].id)[0].get("messages", [])
    return len(then) if now[:len(then)] == then else 0


def _reply(call: CallRow, reply: dict[str, Any] | None) -> None:
    st.markdown("**Reply**")
    if call.error:
        st.text(f"✕ {visible(call.error)}")
    if reply is None:
        st.caption("No reply came.")
        return
    stop = call.stop_reason or "none"
    st.text(f"stop reason: {visible(stop)}" + (f", {STOPS[stop]}" if stop in STOPS else ""))
    for block in blocks(reply):
        _block(block, call.thinking)
    with st.expander("Raw JSON", type="compact"):
        st.json(reply, expanded=1)


def _message(message: dict[str, Any]) -> None:
    st.caption("user" if message.get("role") == "user" else "assistant")
    for block in blocks(message):
        _block(block)


def _block(block: Any, thought: int | None = None) -> None:
    """`thought`: tokens of thinking, where the reply reported them."""
    kind = get(block, "type", "")
    if kind == "text":
        _code(get(block, "text", ""))
    elif kind == "tool_use":
        _code(f"→ {get(block, 'name', '')}({json.dumps(get(block, 'input', {}), ensure_ascii=False)})")
    elif kind == "tool_result":
        mark = "✕ error" if get(block, "is_error") else "←"
        _code(f"{mark} {_text(get(block, 'content', ''))}")
    elif kind in ("thinking", "redacted_thinking"):
        _thinking(get(block, "thinking", ""), thought)
    else:
        st.json(block, expanded=1)


def _thinking(text: str, tokens: int | None) -> None:
    told = f"thinking: {plural(tokens, 'token')}" if tokens else "thinking"
    st.caption(told if text else f"{told}, not shown by the API")
    if text:
        _code(text)


def _text(content: Any) -> str:
    if isinstance(content, str):
        return content
    return "\n".join(get(b, "text", "") or json.dumps(b, ensure_ascii=False) for b in content)


def _code(text: str) -> None:
    """Untrusted text, literally; a long one scrolls in its own frame."""
    st.code(visible(text) or " ", language=None, wrap_lines=True, height=320 if len(text) > 1_500 else "content")
