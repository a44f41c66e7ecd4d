"""`python -m lib.simulated --port 8765`: the simulated Messages API as a local server."""

from __future__ import annotations

import argparse
import signal
import sys
import threading
from collections.abc import Sequence

from lib import settings
from lib.errors import SettingError
from lib.models import DEFAULT_MODEL
from lib.simulated.conditions import Conditions
from lib.simulated.server import PortTaken, SimulatedServer
from lib.usage.tokens import is_exact

_SHARES = {
    "rate_limited": "attempts answered 429", "overloaded": "attempts answered 529",
    "server_error": "attempts answered 500", "slow": "calls that take several times as long",
}


def main(arguments: Sequence[str] | None = None) -> None:
    """Serves until Ctrl-C."""
    options = _options(arguments)
    conditions = Conditions.from_dict(vars(options))
    try:
        server = SimulatedServer(options.host, options.port, options.speed, conditions)
    except PortTaken as error:
        sys.exit(str(error))
    except (OSError, OverflowError) as error:
        sys.exit(f"Cannot listen at {options.host}, port {options.port}: {error}")
    is_exact()      # loads the vocabulary now rather than in the first request
    # A KeyboardInterrupt can be lost where Python swallows exceptions, such as in a finaliser; this cannot.
    signal.signal(signal.SIGINT, lambda *_: threading.Thread(target=server.shutdown, daemon=True).start())
    print(_greeting(server), flush=True)
    with server:
        server.serve_forever(poll_interval=0.1)
    print("\nStopped.")


def _options(arguments: Sequence[str] | None) -> argparse.Namespace:
    parser = argparse.ArgumentParser(
        prog="python -m lib.simulated", description="A simulated Messages API on this machine. Its answers come from "
        "rules, not from a model; its protocol, errors and token arithmetic follow the real one.")
    parser.add_argument("--port", type=int, required=True, help="0 takes any free one")
    parser.add_argument("--host", default="127.0.0.1", help="127.0.0.1: only this machine can reach it")
    parser.add_argument("--speed", type=_at_least_0, default=_usual_speed(),
                        help="simulated seconds per real second, 0 for no waiting (default: %(default)g)")
    parser.add_argument("--seed", type=_whole, default=0, help="another one has faults hit other requests")
    for name, what in _SHARES.items():
        parser.add_argument(f"--{name.replace('_', '-')}", type=_share, default=0.0, metavar="SHARE",
                            help=f"share of {what}, for instance 0.1")
    parser.add_argument("--requests-per-minute", type=_whole, default=0, metavar="N", help="more are answered 429")
    parser.add_argument("--confused", action="store_true", help="an agent makes its last call again and again")
    return parser.parse_args(arguments)


def _usual_speed() -> float:
    try:
        return settings.load().speed
    except SettingError as error:
        sys.exit(str(error))


def _at_least_0(text: str) -> float:
    return _number(text, float("inf"))


def _whole(text: str) -> int:
    if not text.isdecimal():
        raise argparse.ArgumentTypeError(f"{text} is not a whole number from 0 on")
    return int(text)


def _share(text: str) -> float:
    return _number(text, 1.0)


def _number(text: str, most: float) -> float:
    number = float(text)
    if not 0 <= number <= most or number == float("inf"):
        raise argparse.ArgumentTypeError(f"{text} is not between 0 and {most:g}")
    return number


def _greeting(server: SimulatedServer) -> str:
    told = server.room.conditions.told()
    faults = f" It is {told}." if told else ""
    body = f'{{"model": "{DEFAULT_MODEL}", "max_tokens": 200, "messages": [{{"role": "user", "content": "Hello"}}]}}'
    return (f"The simulated Messages API listens at {server.url}; any key will do.{faults} Ctrl-C stops it.\n\n"
            f"curl {server.url}/v1/messages -H 'x-api-key: any' -H 'anthropic-version: 2026-10-21' \\\n"
            f"  -H 'content-type: application/json' -d '{body}'\n")


if __name__ == "__main__":
    main()
