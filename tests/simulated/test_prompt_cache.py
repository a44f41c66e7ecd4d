"""What the simulated prompt cache reads and writes, and that every reply's tokens add up."""

import pytest

from lib.simulated.protocol import handle
from lib.simulated.room import Room
from lib.usage.tokens import estimate_request

MODEL = "claude-sonnet-5-5"
MARK = {"type": "ephemeral"}
HOUR = {"type": "ephemeral", "ttl": "1h"}
TOOL = {"name": "read_ticket", "description": "Returns one ticket. " * 90,
        "input_schema": {"type": "object", "properties": {"ticket_id": {"type": "string"}}}}


def text(words, n=1, **mark):
    return {"type": "text", "text": f"{words} " * n, **mark}


def long(words="root causes of tickets", **mark):
    """A block of about 1,100 tokens."""
    return text(words, 200, **mark)


def user(*blocks):
    return {"role": "user", "content": list(blocks)}


def ask(room, at=0.0, **changes):
    """(fresh, read, written for 5 minutes, written for an hour); that they add up is checked for every reply."""
    request = {"model": MODEL, "max_tokens": 300, "messages": [user(text("hi"))], **changes}
    reply = handle(request, room=room, at=at)
    assert reply.status == 200, reply.body
    usage = reply.body["usage"]
    made = usage["cache_creation"]
    assert usage["cache_creation_input_tokens"] == sum(made.values())
    assert (usage["input_tokens"] + usage["cache_creation_input_tokens"] + usage["cache_read_input_tokens"]
            == estimate_request(request))
    return (usage["input_tokens"], usage["cache_read_input_tokens"], made["ephemeral_5m_input_tokens"],
            made["ephemeral_1h_input_tokens"])


@pytest.fixture
def room():
    return Room(now=lambda: 0.0)


def reads(room, at=100.0, **changes):
    return ask(room, at, **changes)[1]


def test_what_was_written_up_to_a_mark_is_read_by_the_next_request(room):
    system = [long(cache_control=MARK)]
    first, second = ask(room, 0, system=system), ask(room, 60, system=system, messages=[user(text("other"))])
    assert first[0] == second[0] and first[0] < 20, "only the message is left"
    assert first[1] == 0 and first[2] > 1_000
    assert (second[1], second[2]) == (first[2], 0)


def test_without_a_mark_nothing_is_written_or_read(room):
    assert ask(room, 0, system=[long()])[1:] == ask(room, 60, system=[long()])[1:] == (0, 0, 0)


def test_a_prefix_below_the_models_minimum_is_neither_written_nor_read(room):
    system = [text("root causes of tickets", 80, cache_control=MARK)]
    assert ask(room, 0, system=system)[1:] == ask(room, 60, system=system)[1:] == (0, 0, 0)
    longer = [text("root causes of tickets", 100, cache_control=MARK)]
    assert ask(room, 0, system=longer)[2] >= 512


@pytest.mark.parametrize("model, cached", [("claude-opus-5-5", True), ("claude-opus-4-7", False),
                                           ("claude-haiku-4-5", False)])
def test_the_minimum_is_the_models(room, model, cached):
    assert bool(ask(room, 0, model=model, system=[long(cache_control=MARK)])[2]) == cached


def test_an_entry_lives_five_minutes_from_the_start_of_the_request_that_last_used_it(room):
    system = [long(cache_control=MARK)]
    ask(room, 0, system=system)
    assert reads(room, 299, system=system) and reads(room, 598, system=system)
    assert not reads(room, 898, system=system)


def test_an_hour_lives_an_hour(room):
    system = [long(cache_control=HOUR)]
    assert ask(room, 0, system=system)[3] > 1_000
    assert reads(room, 3_599, system=system)


def test_an_earlier_request_that_comes_in_late_shortens_no_life(room):
    system = [long(cache_control=MARK)]
    ask(room, 200, system=system)
    assert ask(room, 0, system=system)[2] > 0, "at its time nothing had been written yet"
    assert reads(room, 499, system=system)


def test_an_entry_can_be_read_only_once_the_reply_that_wrote_it_began(room):
    request = {"model": MODEL, "max_tokens": 300, "system": [long(cache_control=MARK)], "messages": [user(text("hi"))]}
    first = handle(request, room=room, at=0.0)
    assert 0 < first.first < first.seconds
    early, late = (ask(room, at, system=request["system"]) for at in (first.first - 0.001, first.first))
    assert (early[1], bool(early[2])) == (0, True), "too early: it pays for writing the same once more"
    assert (bool(late[1]), late[2]) == (True, 0)


def test_the_longest_hit_wins_and_only_the_rest_is_written(room):
    one, two = long("one"), long("two")
    ask(room, 0, system=[{**one, "cache_control": MARK}])
    short = ask(room, 50, system=[{**one, "cache_control": MARK}])[1]
    grown = ask(room, 60, system=[one, {**two, "cache_control": MARK}])
    again = ask(room, 70, system=[{**one, "cache_control": MARK}, {**two, "cache_control": MARK}])
    assert grown[1] == short and grown[2] > 500
    assert again[1:3] == (short + grown[2], 0)


def test_a_mark_looks_back_twenty_blocks_its_own_included(room):
    base = long(cache_control=MARK)
    ask(room, 0, messages=[user(base)])

    def reads_after(blocks):
        fill = [text(f"more {i}") for i in range(blocks - 1)]
        return reads(room, 10, messages=[user(long(), *fill, text("end", cache_control=MARK))])

    assert reads_after(19) and not reads_after(20)


def test_another_mark_further_up_reaches_what_the_last_one_does_not(room):
    ask(room, 0, messages=[user(long(cache_control=MARK))])
    fill = [text(f"more {i}") for i in range(40)]
    assert reads(room, 10, messages=[user(long(cache_control=MARK), *fill, text("end", cache_control=MARK))])


def test_mixed_times_to_live_are_written_up_to_their_own_marks(room):
    tools, system = [{**TOOL, "cache_control": HOUR}], [long(cache_control=MARK)]
    fresh, read, five, hour = ask(room, 0, tools=tools, system=system)
    assert read == 0 and five > 1_000 and hour > 500 and fresh < 20
    later = ask(room, 400, tools=tools, system=system)
    assert later[1] == hour and later[2] == five, "after five minutes only the tools are still there"


@pytest.mark.parametrize("change, kept", [
    ({"model": "claude-opus-5-5"}, ()),
    ({"output_config": {"format": {"type": "json_schema", "schema": {"type": "object", "properties": {},
                                                                   "additionalProperties": False}}}}, ()),
    ({"tools": [{**TOOL, "description": "Other. " * 300, "cache_control": MARK}]}, ()),
    ({"system": [long("another", cache_control=MARK)]}, ("tools",)),
    ({"tool_choice": {"type": "none"}}, ("tools", "system")),
    ({"thinking": {"type": "adaptive"}}, ("tools", "system")),
    ({"output_config": {"effort": "low"}}, ("tools", "system")),
    ({"messages": [user(long("else", cache_control=MARK))]}, ("tools", "system")),
    ({"tool_choice": {"type": "auto"}}, ("tools", "system", "messages")),
    ({"output_config": {"effort": "high"}}, ("tools", "system", "messages")),
    ({"max_tokens": 200}, ("tools", "system", "messages")),
], ids=lambda value: str(value)[:40])
def test_a_change_invalidates_its_own_level_and_those_after_it(room, change, kept):
    base = {"tools": [{**TOOL, "cache_control": MARK}], "system": [long("system", cache_control=MARK)],
            "messages": [user(long("message", cache_control=MARK))]}
    written = {}
    for level in base:      # what each level adds
        so_far = {name: base[name] for name in list(base)[:list(base).index(level) + 1]}
        written[level] = sum(ask(Room(now=lambda: 0.0), 0, **so_far)[2:]) - sum(written.values())
    ask(room, 0, **base)
    assert reads(room, 60, **{**base, **change}) == sum(written[level] for level in kept)


def test_another_speed_changes_all_but_the_tools(room):
    base = {"model": "claude-opus-5-5", "tools": [{**TOOL, "cache_control": MARK}],
            "system": [long(cache_control=MARK)]}
    tools = sum(ask(Room(now=lambda: 0.0), 0, **{**base, "system": []})[2:])
    ask(room, 0, **base)
    assert reads(room, 60, **base, speed="fast") == tools > 0


def test_images_change_the_messages_only(room):
    image = {"type": "image", "source": {"type": "base64", "media_type": "image/png", "data": "aGk="}}
    system = [long(cache_control=MARK)]
    ask(room, 0, system=system, messages=[user(long("message", cache_control=MARK))])
    before, after = (reads(room, 9, system=system, messages=[user(long("message", cache_control=MARK), *more)])
                     for more in ([], [image]))
    assert before > after > 0


def test_automatic_caching_marks_the_last_block_and_moves_on_with_the_conversation(room):
    opening = [user(long())]
    first = ask(room, 0, cache_control=MARK, messages=opening)
    assert first[0] == 0 and first[2] > 1_000
    grown = [*opening, {"role": "assistant", "content": "hello"}, user(text("and now?"))]
    second = ask(room, 60, cache_control=MARK, messages=grown)
    assert (second[0], second[1]) == (0, first[2]) and 0 < second[2] < 30


def test_a_text_and_one_text_block_are_the_same_prompt(room):
    words = long()["text"]
    ask(room, 0, cache_control=MARK, messages=[{"role": "user", "content": words}])
    assert reads(room, 60, messages=[user({"type": "text", "text": words, "cache_control": MARK})])


def test_a_mark_inside_a_tool_result_counts_as_the_results_own(room):
    call = {"type": "tool_use", "id": "toolu_1", "name": "read_ticket", "input": {"ticket_id": "1"}}

    def messages(inner, outer):
        result = {"type": "tool_result", "tool_use_id": "toolu_1", "content": [long("result", **inner)], **outer}
        return [user(text("go")), {"role": "assistant", "content": [call]}, user(result)]

    mark = {"cache_control": MARK}
    written = ask(room, 0, tools=[TOOL], messages=messages(mark, {}))[2]
    assert written > 1_000
    assert reads(room, 60, tools=[TOOL], messages=messages({}, mark)) == written


def test_an_agents_every_turn_reads_the_turn_before(room):
    """Each turn's input is read up to where the last turn ended, and what came since is written."""
    messages, at, sent = [user(long("question"))], 0.0, 0
    for turn in range(6):
        request = {"model": MODEL, "max_tokens": 400, "tools": [TOOL], "cache_control": MARK, "messages": messages}
        reply = handle(request, room=room, at=at)
        usage = reply.body["usage"]
        assert usage["cache_read_input_tokens"] == sent
        sent += usage["cache_creation_input_tokens"]
        assert usage["input_tokens"] == 0 and sent == estimate_request(request)
        at += reply.seconds
        call = {"type": "tool_use", "id": f"toolu_{turn}", "name": "read_ticket", "input": {"ticket_id": str(turn)}}
        thought = [b for b in reply.body["content"] if b["type"] == "thinking"]
        messages = [*messages, {"role": "assistant", "content": [*thought, call]},
                    user({"type": "tool_result", "tool_use_id": call["id"], "content": f"ticket {turn} " * 40})]


def test_counting_tokens_never_touches_the_cache(room):
    request = {"model": MODEL, "system": [long(cache_control=MARK)], "messages": [user(text("hi"))]}
    counted = handle(request, path="/v1/messages/count_tokens", room=room, at=0.0)
    assert counted.body == {"input_tokens": estimate_request(request)}
    assert not reads(room, 60, system=request["system"])


def test_max_tokens_zero_fills_the_cache_and_says_nothing(room):
    request = {"model": MODEL, "max_tokens": 0, "system": [long(cache_control=MARK)], "messages": [user(text("hi"))]}
    body = handle(request, room=room, at=0.0).body
    assert (body["content"], body["stop_reason"], body["usage"]["output_tokens"]) == ([], "max_tokens", 0)
    assert reads(room, 60, system=request["system"]) == body["usage"]["cache_creation_input_tokens"] > 0


def test_what_is_read_from_the_cache_takes_less_time(room):
    request = {"model": MODEL, "max_tokens": 300, "system": [text("words", 40_000, cache_control=MARK)],
               "messages": [user(text("hi"))]}
    written, read = (handle(request, room=room, at=at) for at in (0.0, 60.0))
    assert read.first < written.first and read.body["content"] == written.body["content"]


def test_rooms_share_nothing():
    system = [long(cache_control=MARK)]
    ask(Room(now=lambda: 0.0), 0, system=system)
    assert not reads(Room(now=lambda: 0.0), 60, system=system)


def test_the_cache_does_not_grow_without_bound(room, monkeypatch):
    monkeypatch.setattr("lib.simulated.prompt_cache._MOST_ENTRIES", 3)
    for i in range(10):
        ask(room, i, system=[long(f"prompt {i}", cache_control=MARK)])
    assert len(room.cache._entries) == 3
    assert reads(room, 20, system=[long("prompt 9", cache_control=MARK)])
