"""Imports point one way, streamlit stays in the pages, and heavy libraries wait until they are needed."""

from __future__ import annotations

import ast
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parent.parent

# From the top down; the first prefix that fits a module gives its tier. It may import its own tier and lower ones.
TIERS = (
    ("app", 0), ("pages", 0),
    ("lib.ui", 1),
    ("lib.runs.store", 4), ("lib.runs.rows", 4), ("lib.runs.listing", 4), ("lib.runs.recorded", 4),
    ("lib.runs.desks", 4), ("lib.runs.database", 4), ("lib.runs.schema", 4), ("lib.runs.conversations", 4),
    ("lib.runs.designs", 4), ("lib.runs.packing", 4),
    ("lib.task", 2), ("lib.evaluation", 2), ("lib.runs", 2), ("lib.charts", 2), ("lib.design", 2),
    ("lib.design_file", 2), ("lib.charts_costs", 2), ("lib.exports", 2),
    ("lib.agent", 3), ("lib.prompt_map", 3), ("lib.replies", 3), ("lib.tool_results", 3), ("lib.client", 3),
    ("lib.usage.what_if", 2),
    ("lib.usage", 4), ("lib.simulated", 4), ("lib.tickets", 4), ("lib.catalog", 4),
    ("lib.settings", 5), ("lib.errors", 5), ("lib.models", 5), ("lib.messages", 5), ("lib.phrases", 5),
    ("lib.stop_reasons", 5), ("lib.remember", 5),
)
SOURCES = sorted([ROOT / "app.py", *(ROOT / "pages").glob("*.py"), *(ROOT / "lib").rglob("*.py")])
HEAVY = ("anthropic", "altair", "xlsxwriter", "tiktoken", "pandas", "genai_prices", "jsonschema", "httpx2")


def module_of(path: Path) -> str:
    return ".".join(path.relative_to(ROOT).with_suffix("").parts).removesuffix(".__init__")


def tier_of(module: str) -> int | None:
    return next((tier for prefix, tier in TIERS if module == prefix or module.startswith(prefix + ".")), None)


def imports_of(path: Path) -> set[str]:
    found = set()
    for node in ast.walk(ast.parse(path.read_text())):
        if isinstance(node, ast.Import):
            found |= {alias.name for alias in node.names}
        elif isinstance(node, ast.ImportFrom) and node.module:
            assert node.level == 0, f"{path}: relative imports hide the tier"
            found.add(node.module)
            found |= {f"{node.module}.{alias.name}" for alias in node.names if node.module in ("lib", "lib.runs")}
    return found


@pytest.mark.parametrize("path", SOURCES, ids=module_of)
def test_a_module_imports_only_its_own_tier_and_lower_ones(path: Path):
    module = module_of(path)
    if module in ("lib",):
        return
    own = tier_of(module)
    assert own is not None, f"{module} has no tier: name it in TIERS"
    for name in imports_of(path):
        other = tier_of(name)
        if other is not None:
            assert other >= own, f"{module} (tier {own}) imports {name} (tier {other})"


@pytest.mark.parametrize("path", SOURCES, ids=module_of)
def test_only_pages_and_ui_import_streamlit(path: Path):
    uses = any(name.split(".")[0] == "streamlit" for name in imports_of(path))
    assert not uses or tier_of(module_of(path)) in (0, 1)


def test_importing_everything_a_page_needs_loads_no_heavy_library():
    modules = [module_of(p) for p in SOURCES]
    # streamlit itself loads pandas; the simulated transport is an httpx2 class that connecting imports
    quiet = [m for m in modules if tier_of(m) not in (0, 1) and m != "lib.simulated.transport"]
    code = (f"import importlib, sys\nfor m in {quiet!r}: importlib.import_module(m)\n"
            f"print(','.join(h for h in {HEAVY!r} if h in sys.modules))")
    done = subprocess.run([sys.executable, "-c", code], cwd=ROOT, capture_output=True, text=True, check=True)
    assert done.stdout.strip() == ""
