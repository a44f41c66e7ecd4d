"""Every call of a group as a table; a chosen one opens to its exact request and reply."""

from __future__ import annotations

import json
from typing import Any

import streamlit as st

from lib.messages import blocks, get
from lib.runs.store import CallRow, Run
from lib.tickets.visible import visible
from lib.ui import format as fmt
from lib.ui import live, state

SHOWN = 2_000       # rows sent to the browser at once
HELP = {
    "stop": "stop_reason: why the model ended its reply. end_turn: it was done; tool_use: it asks for a tool; "
            "max_tokens: it was cut off.",
    "fresh": "Input tokens at full price.",
    "write": "Input tokens written to the prompt cache, a little dearer.",
    "read": "Input tokens read from the prompt cache, much cheaper.",
    "attempts": "Times the request was sent: 429 and 5xx are tried again and cost nothing.",
}


def calls(runs: list[Run]) -> None:
    rows = [(r, c) for r in runs for c in state.calls(r.id)]
    if not rows:
        st.caption("Every call will be here as it happens, each with its exact request and reply.")
        return
    rows = _filtered(rows)
    priced = all(c.usd is not None for _, c in rows)
    state_of_table = st.dataframe(
        [_table_row(i, r, c, priced) for i, (r, c) in enumerate(rows[:SHOWN], start=1)],
        hide_index=True, key="run.calls", on_select="rerun", selection_mode="single-row", height=360,
        placeholder=fmt.NOT_REPORTED, column_config=_columns(priced), alt="Every call: step, tokens, cost, seconds")
    if len(rows) > SHOWN:
        st.caption(f"the first {SHOWN:,} of {len(rows):,} calls; filter to see others")
    chosen = state_of_table["selection"]["rows"]
    if chosen and chosen[0] < len(rows):
        exchange(*rows[chosen[0]])
    else:
        st.caption("Select a row to see its exact request and reply.")


def _filtered(rows: list[tuple[Run, CallRow]]) -> list[tuple[Run, CallRow]]:
    shapes = list(dict.fromkeys(r.shape for r, _ in rows))
    steps = list(dict.fromkeys(c.step for _, c in rows))
    with st.container(horizontal=True, vertical_alignment="bottom"):
        shape = st.pills("Shape", shapes, key="run.filter.shape")
        step = st.pills("Step", steps, key="run.filter.step")
        failed = st.toggle("Only errors", key="run.filter.errors")
    return [(r, c) for r, c in rows if (not shape or r.shape == shape) and (not step or c.step == step)
            and (not failed or c.error)]


def _table_row(number: int, run: Run, call: CallRow, priced: bool) -> dict[str, Any]:
    return {
        "#": number, "shape": run.shape, "step": call.step, "about": call.subject, "seconds": call.seconds,
        "stop reason": call.stop_reason or ("error" if call.error else "none"), "fresh input": call.fresh,
        "cache write": _sum(call.write_5m, call.write_1h), "cache read": call.cache_read, "output": call.output,
        "cost": call.usd if priced else fmt.dollars(call.usd), "attempts": call.attempts, "error": call.error or "",
    }


def _sum(*parts: int | None) -> int | None:
    known = [p for p in parts if p is not None]
    return sum(known) if known else None


def _columns(priced: bool) -> dict[str, Any]:
    column = st.column_config
    tokens = {name: column.NumberColumn(name, format="localized", help=HELP.get(key)) for name, key in (
        ("fresh input", "fresh"), ("cache write", "write"), ("cache read", "read"), ("output", ""))}
    cost = {"cost": column.NumberColumn("cost", format="$%.6f")} if priced else {}
    return {**tokens, **cost, "seconds": column.NumberColumn("seconds", format="%.2f"),
            "stop reason": column.TextColumn("stop reason", help=HELP["stop"]),
            "attempts": column.NumberColumn("attempts", help=HELP["attempts"])}


# --- one call --------------------------------------------------------------------------------------------------------


def exchange(run: Run, call: CallRow) -> None:
    """The exact request and reply of a call; what it added since the call before is what is open."""
    request, reply = state.store().exchange(call.id)
    with st.container(border=True, key="run_exchange"):
        st.markdown(f"**:{live.COLOUR.get(run.shape, 'gray')}[{run.shape.capitalize()}]** call {call.id}")
        st.text(f"{call.step} · {call.subject or 'no subject'} · {call.model} · {fmt.seconds(call.seconds)} · "
                f"{fmt.exact(call.input)} input / {fmt.exact(call.output)} output tokens · {fmt.dollars(call.usd)}")
        left, right = st.columns(2)
        with left:
            _request(run, call, request)
        with right:
            _reply(call, reply)


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
        with st.expander(f"Resent from the call before · {fmt.plural(before, 'message')}", type="compact"):
            for message in messages[:before]:
                _message(message)
        st.caption(f"new in this call: {fmt.plural(len(messages) - before, 'message')}")
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
    for block in blocks(reply):
        _block(block)
    with st.expander("Raw JSON", type="compact"):
        st.json(reply, expanded=1)


def _message(message: dict[str, Any]) -> None:
    st.caption("user" if message.get("role") == "user" else "assistant")
    for block in blocks(message):
        _block(block)


def _block(block: Any) -> None:
    kind = get(block, "type", "")
    if kind == "text":
        _code(get(block, "text", ""))
    elif kind == "tool_use":
        _code(f"→ {get(block, 'name', '')}({json.dumps(get(block, 'input', {}), ensure_ascii=False)})")
    elif kind == "tool_result":
        mark = "✕ error" if get(block, "is_error") else "←"
        _code(f"{mark} {_text(get(block, 'content', ''))}")
    elif kind == "thinking":
        _code(f"(thinking) {get(block, 'thinking', '') or 'not shown by the API'}")
    else:
        st.json(block, expanded=1)


def _text(content: Any) -> str:
    if isinstance(content, str):
        return content
    return "\n".join(get(b, "text", "") or json.dumps(b, ensure_ascii=False) for b in content)


def _code(text: str) -> None:
    """Untrusted text, literally; a long one scrolls in its own frame."""
    st.code(visible(text) or " ", language=None, wrap_lines=True, height=320 if len(text) > 1_500 else "content")
