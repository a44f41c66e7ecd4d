"""The slow libraries, the app's own modules and the tokenizer's vocabulary, loaded by whoever imports this."""

import importlib
import pkgutil

import altair
import anthropic
import pandas
import pyarrow
import streamlit.web.bootstrap
import streamlit.web.cli

import lib
import tests.survival.undisturbed
from lib.usage.tokens import is_exact

for module in pkgutil.walk_packages(lib.__path__, "lib."):
    if not module.name.endswith("__main__"):
        importlib.import_module(module.name)
is_exact()

__all__ = ["altair", "anthropic", "pandas", "pyarrow", "streamlit", "tests"]
