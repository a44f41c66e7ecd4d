"""What the simulated API is told to do: how fast its time passes, its faults, how fast its models are.

What a person sets is kept on the desk; what they leave alone is as the settings of the server say.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

import streamlit as st

from lib.runs.store import SIMULATED_ANSWERS, Run
from lib.simulated.conditions import Conditions
from lib.ui import state

RULES = "Rules on this machine write the replies, not a model."
MEANS = (RULES + " Tokens, cache billing, time and prices are worked out as for the real API; a real model's "
                 "judgement is not shown.")
SHARES = {      # name in Conditions -> label, help
    "rate_limited": ("Rate limited", "429: too many requests for now. The API says how long to wait; the run waits and "
                                     "sends the same request again. A refused attempt costs nothing."),
    "overloaded": ("Overloaded", "529: the API has more visitors than it can serve. The run waits and sends the same "
                                 "request again. A refused attempt costs nothing."),
    "server_error": ("Server errors", "500: something broke on the API's side. The SDK sends the request again by "
                                      "itself, two times at most."),
    "slow": ("Slow calls", "These calls take several times as long. A pipeline waits for its slowest call; an agent "
                           "waits for every one, since each turn needs the one before."),
}
PER_MINUTE = ("Requests a minute", "More than this in one minute are answered 429. 0: no limit. A pipeline that sends "
                                   "eight at once meets it sooner than an agent that sends one.")
SEED = ("Seed", "Which attempts are hit is drawn from this number: with the same seed and settings, a whole class sees "
                "the same run.")
CONFUSED = ("Confused model: repeats its last tool call",
            "The agent asks for the same thing again and again. Only a guard ends that: the check for repeats, the "
            "limit of turns, the budget.")
SIZES = {"small": "Haiku", "medium": "Sonnet", "large": "Opus and Fable"}     # of model -> who has it
FIRST = ("first token (s)", "Seconds from the request to the first word of the reply, for a short prompt: {}.")
PACE = ("tokens a second", "How fast a reply is written once it has begun, thinking included: {}.")


def wrote(run: Run) -> bool:
    """Whether a simulation wrote the answers of this run, be it here or behind a server or a recording."""
    return run.source == "simulated" or run.conditions == SIMULATED_ANSWERS or run.origin.startswith("simulated")


def speed() -> float:
    """Simulated seconds that pass in a real one; 0: nobody waits."""
    chosen = _kept().get("speed")
    return chosen if isinstance(chosen, float) and 0 <= chosen < math.inf else state.settings().speed


def conditions() -> Conditions:
    return Conditions.from_dict({**_by_settings(), **_kept()})


def told() -> str:
    """What is other than an API without faults, with the seed that decided it; "" when nothing is."""
    now = conditions()
    said = now.told()
    return f"{said}, seed {now.seed}" if said and now.seed else said


def speed_field(page: str) -> None:
    options = sorted({1.0, 10.0, 30.0, 100.0, state.settings().speed, speed()})
    _field(st.selectbox, page, "speed", "Speed", lambda chosen: _keep(speed=chosen), options=options,
           index=options.index(speed()), format_func=_speed_name,
           help="A simulated call takes about 2 s of its own time. Faster only shortens your waiting: the times shown "
                "stay the simulated ones.")


def faults_form(page: str) -> None:
    """Faults by kind, a confused model, the seed, and the speed of each size of model."""
    now = conditions()
    with st.container(key=f"{page}_faults", gap="small"):
        with st.container(horizontal=True, horizontal_alignment="distribute", vertical_alignment="center"):
            st.markdown("**Faults** :gray[of all attempts, in %]", width="content")
            _reset_button(page)
        with st.container(horizontal=True, gap="small"):
            for name, (label, help) in SHARES.items():
                _share(page, name, label, help, getattr(now, name))
        with st.container(horizontal=True, gap="small", vertical_alignment="bottom"):
            _whole(page, "requests_per_minute", *PER_MINUTE, now.requests_per_minute)
            _whole(page, "seed", *SEED, now.seed)
            _field(st.toggle, page, "confused", CONFUSED[0], lambda on: _keep(confused=on), value=now.confused,
                   help=CONFUSED[1])
        st.markdown("**Time** :gray[by size of model]")
        for column, size in zip(st.columns(len(SIZES)), SIZES, strict=True):
            with column:
                _pace(page, now, size)


# --- one field -------------------------------------------------------------------------------------------------------


def _share(page: str, name: str, label: str, help: str, share: float) -> None:
    _field(st.number_input, page, name, label, lambda percent: _keep(**{name: round(percent / 100, 6)}), min_value=0.0,
           max_value=100.0, step=5.0, format="%g", value=round(share * 100, 4), width=128, help=help)


def _whole(page: str, name: str, label: str, help: str, number: int) -> None:
    _field(st.number_input, page, name, label, lambda typed: _keep(**{name: typed}), min_value=0, max_value=10**9,
           value=min(number, 10**9), width=150, help=help)


def _pace(page: str, now: Conditions, size: str) -> None:
    first, per_token = now.to_dict()["speeds"][size]
    (first_label, first_help), (pace_label, pace_help) = FIRST, PACE
    _field(st.number_input, page, f"{size}.first", f"{size.capitalize()}: {first_label}",
           lambda seconds: _keep_speed(size, first=seconds), min_value=0.0, max_value=3_600.0, step=0.5, format="%g",
           value=min(float(first), 3_600.0), help=first_help.format(SIZES[size]))
    _field(st.number_input, page, f"{size}.pace", f"{size.capitalize()}: {pace_label}",
           lambda tokens: _keep_speed(size, per_token=1 / tokens), min_value=0.01, max_value=1e6, step=10.0,
           format="%g", value=max(0.01, round(1 / max(per_token, 1e-6), 3)), help=pace_help.format(SIZES[size]))


def _field(widget: Callable[..., Any], page: str, name: str, label: str, keep: Callable[[Any], None],
           **options: Any) -> None:
    """A widget whose value lives on the desk. A reset makes a new widget: the browser would go on showing the old."""
    resets = st.session_state.get("_simulation_resets", 0)
    key = f"{page}.simulation.{name}" + (f".{resets}" if resets else "")
    widget(label, key=key, on_change=lambda: keep(st.session_state[key]), **options)


def _reset_button(page: str) -> None:
    touched = set(_kept()) - {"speed"}
    st.button("Reset", key=f"{page}.simulation.reset", icon=":material/restart_alt:", type="tertiary",
              disabled=not touched, on_click=_reset, help="Faults and time as they were before anybody set them here.")


def _reset() -> None:
    st.session_state["_simulation_resets"] = st.session_state.get("_simulation_resets", 0) + 1
    state.keep(simulation={name: value for name, value in _kept().items() if name == "speed"})


# --- what is kept ----------------------------------------------------------------------------------------------------


def _kept() -> dict[str, Any]:
    """Without what another version left in the store."""
    known, found = {*_by_settings(), "speed"}, state.desk()["simulation"]
    return {name: value for name, value in found.items() if name in known} if isinstance(found, dict) else {}


@state.told
def _keep(**changes: Any) -> None:
    """Only what differs from the server's own settings is kept. What another tab changed meanwhile stays."""
    state.look_again()
    usual = {**_by_settings(), "speed": state.settings().speed}
    now = {**_kept(), **changes}
    state.keep(simulation={name: value for name, value in now.items() if value != usual[name]})


@state.told
def _keep_speed(size: str, **changes: float) -> None:
    state.look_again()
    speeds = conditions().to_dict()["speeds"]
    first, per_token = speeds[size]
    new = {"first": first, "per_token": per_token, **changes}
    _keep(speeds={**speeds, size: [new["first"], new["per_token"]]})


def _by_settings() -> dict[str, Any]:
    return Conditions.from_dict(state.settings().faults).to_dict()


def _speed_name(speed: float) -> str:
    return {0.0: "no waiting", 1.0: "real time"}.get(speed, f"{speed:g} × faster")
