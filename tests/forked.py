"""The app in a process of its own: a new one, or one forked from another that has loaded the slow libraries once."""

from __future__ import annotations

import multiprocessing
import os
import sys
from collections.abc import Mapping
from pathlib import Path

FRESH = multiprocessing.get_context("spawn")
APART = multiprocessing.get_context("forkserver")       # quick to start: a suite starts dozens
APART.set_forkserver_preload(["tests.preloaded"])


def run_app(root: Path, port: int, environment: Mapping[str, str], log: Path) -> None:
    """What `streamlit run app.py` does, in this process; what it says goes to the end of `log`."""
    os.environ.clear()
    os.environ.update(environment)
    os.chdir(root)
    with log.open("a") as told:
        os.dup2(told.fileno(), 1)
        os.dup2(told.fileno(), 2)
    sys.argv = ["streamlit", "run", "app.py", "--server.headless=true", f"--server.port={port}",
                "--server.fileWatcherType=none"]
    from streamlit.web.cli import main

    main()
