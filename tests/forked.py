"""The app in a process of its own: a new one, or one forked from another that has loaded the slow libraries once."""

from __future__ import annotations

import multiprocessing
import os
import runpy
import sys
from collections.abc import Mapping
from pathlib import Path

FRESH = multiprocessing.get_context("spawn")
APART = multiprocessing.get_context("forkserver")       # quick to start: a suite starts dozens
APART.set_forkserver_preload(["tests.preloaded"])


def run_script(folder: Path, arguments: list[str], environment: Mapping[str, str]) -> None:
    """What `python *arguments` does in a folder, in this process; what it says goes into told.txt and errors.txt."""
    os.environ.clear()
    os.environ.update(environment)
    os.chdir(folder)
    for number, name in ((1, "told.txt"), (2, "errors.txt")):
        with open(name, "w") as told:
            os.dup2(told.fileno(), number)
    sys.argv, sys.path[0] = arguments, str(folder)
    runpy.run_path(arguments[0], run_name="__main__")


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
