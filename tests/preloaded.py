"""The slow libraries, loaded by whoever imports this."""

import altair
import anthropic
import pandas
import pyarrow
import streamlit.web.bootstrap
import streamlit.web.cli

import tests.survival.undisturbed

__all__ = ["altair", "anthropic", "pandas", "pyarrow", "streamlit", "tests"]
