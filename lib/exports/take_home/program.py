"""A design and its data as a program: `run.py` holds what the person edits and the steps, `core.py` the rest.

`core.py` is this project's own source, cut out with all that it needs; `run.py` is put together from `parts/*.txt`.
"""

from __future__ import annotations

import ast
import builtins
import inspect
import io
import json
import pprint
import sqlite3
import textwrap
import zipfile
from collections.abc import Iterable, Sequence
from contextlib import closing
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from lib import agent, prompt_map
from lib.catalog import Catalog, guard, number  # the function: the package passes it on under its module's name
from lib.catalog import catalog as catalogs
from lib.client import correct
from lib.design import Design, Step
from lib.exports.take_home.sources import cut_out
from lib.task import answers, checks, own_tools, pipeline, prompts, reporting, tools
from lib.task.output import SCHEMAS
from lib.tickets import TicketSet

PARTS = Path(__file__).parent / "parts"
WIDTH = 116
OF_SHAPE = {"pipeline": ("label", "merge", "summary"), "agent": ("agent",)}
ROOTS: dict[str, list[tuple[Any, str]]] = {
    "pipeline": [(prompt_map, "map_prompts"),
                 *((prompts, n) for n in ("render_ticket", "render_labels", "render_cause")),
                 *((answers, n) for n in ("parse_label", "parse_groups", "usable_groups", "parse_summary")),
                 *((pipeline, n) for n in ("_batches", "_tickets_per_cause", "_merge_check", "_summary_checks",
                                           "LABELS_PER_CALL", "MERGE_ROUNDS", "EXCERPTS", "INCIDENTS"))],
    "agent": [(agent, "run_agent"), (prompts, "question"), (answers, "parse_answer"), (own_tools, "own_function"),
              *((tools, n) for n in ("list_tickets", "read_ticket", "search_tickets", "get_customer", "get_product",
                                     "list_incidents", "tally", "asked_ids", "_explaining", "READS")),
              *((checks, n) for n in ("tickets_exist", "tickets_read", "one_cause_each", "count_matches",
                                      "customers_match", "summary_given"))],
}
SHARED = [*((reporting, n) for n in ("build_report", "incidents_of", "top_causes", "affected")),
          (checks, "ranked_by_count"), (correct, "problem"), (correct, "exchange"),
          (inspect.getmodule(number), "number"), (guard, "quoted"),
          *((catalogs, n) for n in ("id_text", "_fetch", "QUERY_SECONDS"))]
GIVEN = ("Ticket", "TicketSet", "Catalog", "Role")      # `parts/data.txt` has plain ones
IMPORTS = {"argparse": "import argparse", "json": "import json", "os": "import os", "re": "import re",
           "sqlite3": "import sqlite3", "threading": "import threading", "Counter": "from collections import Counter",
           "asdict": "from dataclasses import asdict", "dataclass": "from dataclasses import dataclass",
           "field": "from dataclasses import field", "partial": "from functools import partial",
           "Path": "from pathlib import Path", "math": "import math", "time": "import time",
           "anthropic": "import anthropic", "sys": "import sys"}
REQUIREMENTS = "anthropic>=2.14,<3\njsonschema>=4.23,<5\n"


@dataclass(frozen=True)
class Program:
    """Its files by name; `tickets.json` and `product.db` are the data that the app ran on."""

    files: dict[str, bytes]

    def zipped(self) -> bytes:
        """The same content gives the same bytes."""
        packed = io.BytesIO()
        with zipfile.ZipFile(packed, "w", zipfile.ZIP_DEFLATED) as archive:
            for name, content in self.files.items():
                archive.writestr(zipfile.ZipInfo(f"take_home/{name}", (2026, 1, 1, 0, 0, 0)), content,
                                 zipfile.ZIP_DEFLATED)
        return packed.getvalue()


def program(design: Design, shapes: Sequence[str], tickets: TicketSet, catalog: Catalog) -> Program:
    """The design's program for these shapes, with its data."""
    core = _core(shapes)
    files = {"run.py": _run(design, shapes, catalog, _defined(core)).encode(), "core.py": core.encode(),
             "requirements.txt": REQUIREMENTS.encode(), "README.md": _readme(design, shapes).encode(),
             "tickets.json": tickets.to_json().encode()}
    return Program(files | ({"product.db": _database(catalog)} if catalog.tables else {}))


def _database(catalog: Catalog) -> bytes:
    """Its tables and nothing else."""
    with closing(sqlite3.connect(":memory:")) as copy:
        copy.deserialize(catalog.to_bytes())
        copy.execute(f"DROP TABLE {catalogs.ABOUT}")
        copy.commit()
        return copy.serialize()


def literal(text: str) -> str:
    """A text as Python source: in triple quotes where it reads the same there, else as `repr`."""
    plain = all(c.isprintable() or c == "\n" for c in text) and "\\" not in text and '"""' not in text
    shown = f'"""\\\n{text}"""' if "\n" in text and plain and not text.endswith('"') else repr(text)
    assert ast.literal_eval(shown) == text
    return shown


# --- core.py ---------------------------------------------------------------------------------------------------------


def _core(shapes: Sequence[str]) -> str:
    cut = cut_out([*SHARED, *(root for shape in shapes for root in ROOTS[shape])], GIVEN)
    data = _part("data")
    imports = cut.imports | {IMPORTS[name] for name in _used(data) & IMPORTS.keys()}
    about = ("What the program is made of: the two core functions with what they need, and the exact work in code.\n\n"
             "Cut out of the source of the playground \"Pipeline or agent?\"; nothing here depends on the design.")
    return f'"""{about}\n"""\n\nfrom __future__ import annotations\n\n{_lines(imports)}\n\n\n{cut.text}\n\n\n{data}'


# --- run.py ----------------------------------------------------------------------------------------------------------


def _run(design: Design, shapes: Sequence[str], catalog: Catalog, known: set[str]) -> str:
    functions = {"pipeline": "run_pipeline", "agent": "run_agent_shape"}
    body = "\n\n".join([
        _settings(design, shapes, catalog), *(_part(shape) for shape in shapes), _part("client"), _part("main"),
        "SHAPES = {" + ", ".join(f'"{shape}": {functions[shape]}' for shape in shapes) + "}\n\n"
        'if __name__ == "__main__":\n    main()\n'])
    used = _used(body) - _defined(body)
    imports = {IMPORTS[name] for name in used & IMPORTS.keys()}
    ours = _wrapped("from core import ", sorted(used & known - IMPORTS.keys()))
    return f'"""{_about(design, shapes)}"""\n\n{_lines(imports)}\n\n{ours}\n\n{body}'


def _about(design: Design, shapes: Sequence[str]) -> str:
    name = "".join(c for c in design.name if c.isprintable() and c not in '"\\')[:80]
    left = [text for text, asked in (
        ("mark anything for the prompt cache", design.caching != "off"),
        ("clear or cut tool results", design.keep_results or design.result_chars),
        ("hold limits of tokens, dollars and seconds", True),
        ("stop an agent that repeats itself", "agent" in shapes),
        ("pause all calls when the server is busy", True),
        ("keep finished calls, so that a run can go on", True)) if asked]
    return "\n".join([
        f"The {' and the '.join(shapes)} of the design {name}, version {design.version}.", "",
        "    pip install -r requirements.txt",
        f"    ANTHROPIC_API_KEY=… python run.py tickets.json product.db --shape {shapes[0]}", "",
        "With ANTHROPIC_BASE_URL it asks a compatible server instead. Every request is the playground's own.",
        *textwrap.wrap(f"What the playground does beyond it: {'; '.join(left)}.", WIDTH), ""])


def _settings(design: Design, shapes: Sequence[str], catalog: Catalog) -> str:
    lines = [("K", design.k, "how many causes"), ("RETRIES", design.retries, "of an invalid reply")]
    if "pipeline" in shapes:
        lines += [("WORKERS", design.workers, "calls at once"), ("TAGS", design.tags, "data stand in escaped tags")]
    if "agent" in shapes:
        lines += [("MAX_TURNS", design.limits.max_turns, "replies of the agent")]
    lines += [("PARALLEL_TOOLS", design.parallel_tools, "the agent may call several tools in one turn")]
    settled = "\n".join(f"{name} = {value!r}".ljust(28) + f"# {what}" for name, value, what in lines)
    roles = {name: role and {"table": role.table, "key": role.key, "columns": role.columns}
             for name, role in vars(catalog.roles).items()}
    parts = [settled, f"# Which table of the database holds what.\nROLES = {_pretty(roles)}\n"
                      f"DECIMALS = {_pretty(_decimals(catalog))}",
             "STEPS = {\n" + "".join(f"    {name!r}: {_step(design, name)},\n"
                                     for shape in shapes for name in OF_SHAPE[shape]) + "}"]
    if "agent" in shapes:
        parts.append("TOOLS = [\n" + "".join(f"    {_tool(tool)},\n" for tool in design.tools if tool.enabled) + "]")
    return "\n\n".join(parts) + "\n"


def _step(design: Design, name: str) -> str:
    step: Step = design.steps[name]
    fields = [("model", repr(step.model)), ("max_tokens", repr(step.max_tokens)), ("system", literal(step.system))]
    if step.effort:
        fields.append(("effort", repr(step.effort)))
    if design.output == "structured":
        fields.append(("schema", literal(json.dumps(SCHEMAS[name]))))
    return _fields(fields)


def _tool(tool: Any) -> str:
    behind = ("query", literal(tool.query)) if tool.is_own else ("function", repr(tool.key))
    fields = [("name", repr(tool.name)), behind, ("description", literal(tool.description)),
              ("input_schema", literal(json.dumps(tool.input_schema, ensure_ascii=False, indent=1)))]
    return _fields(fields)


def _fields(fields: Sequence[tuple[str, str]]) -> str:
    """A dict with one field a line."""
    return "{\n" + "".join(f'        "{key}": {value},\n' for key, value in fields) + "    }"


def _decimals(catalog: Catalog) -> dict[str, str]:
    role = catalog.roles.customers
    column = role.columns.get("monthly_revenue") if role else None
    return {f"{role.table}.{column}": catalog.decimal(role.table, column)} if role and column else {}


def _pretty(value: Any) -> str:
    return pprint.pformat(value, width=WIDTH, sort_dicts=False)


def _readme(design: Design, shapes: Sequence[str]) -> str:
    return f"""# The {' and the '.join(shapes)}, to take home

- `run.py`: prompts, tools, limits and the steps. This is what you edit.
- `core.py`: `map_prompts` and `run_agent`, validation, counting, joins and checks. Nothing in it depends on the design.
- `tickets.json`, `product.db`: the data as the playground read them.

    pip install -r requirements.txt
    ANTHROPIC_API_KEY=… python run.py --shape {shapes[0]}

With `ANTHROPIC_BASE_URL=http://localhost:…` it asks a compatible server. Add `--json` for the whole report.
"""


# --- text ------------------------------------------------------------------------------------------------------------


def _part(name: str) -> str:
    return (PARTS / f"{name}.txt").read_text(encoding="utf-8")


def _lines(imports: Iterable[str]) -> str:
    """Plain imports first; names of one module on one line."""
    plain = sorted(line for line in imports if line.startswith("import "))
    of: dict[str, list[str]] = {}
    for line in imports:
        if line.startswith("from "):
            module, _, names = line.removeprefix("from ").partition(" import ")
            of.setdefault(module, []).append(names)
    wrapped = [_wrapped(f"from {module} import ", sorted(names)) for module, names in sorted(of.items())]
    return "\n".join([*plain, *wrapped])


def _wrapped(head: str, names: Sequence[str]) -> str:
    line = head + ", ".join(names)
    if len(line) <= WIDTH:
        return line
    return head + "(\n" + textwrap.fill(", ".join(names), WIDTH, initial_indent="    ", subsequent_indent="    ") + ")"


def _used(text: str) -> set[str]:
    return {node.id for node in ast.walk(ast.parse(text)) if isinstance(node, ast.Name)} - set(dir(builtins))


def _defined(text: str) -> set[str]:
    """Names of a module's top level."""
    found: set[str] = set()
    for node in ast.parse(text).body:
        if isinstance(node, (ast.FunctionDef, ast.ClassDef)):
            found.add(node.name)
        elif isinstance(node, (ast.Assign, ast.AnnAssign)):
            targets = node.targets if isinstance(node, ast.Assign) else [node.target]
            found |= {part.id for target in targets for part in ast.walk(target) if isinstance(part, ast.Name)}
    return found
