"""Get the code: a design as a plain Python program that runs without this project and gives the same report."""

from lib.exports.take_home.program import Program, program
from lib.exports.take_home.request import API, as_curl, as_json

__all__ = ["API", "Program", "as_curl", "as_json", "program"]
