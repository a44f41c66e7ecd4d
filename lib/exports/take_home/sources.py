"""Parts of this project's own source, cut out with all that they need, so that what is taken home cannot drift."""

from __future__ import annotations

import ast
import importlib
import inspect
import re
from collections.abc import Collection, Iterator
from dataclasses import dataclass, field
from functools import lru_cache
from types import ModuleType


@dataclass
class Cut:
    """What was cut out: the import lines that it needs, and the definitions, each module's under its title."""

    imports: set[str] = field(default_factory=set)
    text: str = ""


@dataclass(frozen=True)
class _Source:
    """A module's top level: where each name is defined, and where each imported one comes from."""

    name: str
    lines: list[str]
    nodes: dict[str, ast.stmt]
    from_here: dict[str, tuple[str, str]]       # imported from this project: name -> module, its name there
    modules: dict[str, str]                     # modules of this project: name -> module
    elsewhere: dict[str, str]                   # imported from elsewhere: name -> the import line


def cut_out(roots: list[tuple[ModuleType, str]], given: Collection[str] = ()) -> Cut:
    """The roots (module, name) with everything of this project that they use, save names that are `given` otherwise.

    Modules stand in the order of their imports, definitions in the order of their file. A private name that two modules
    define gets its module's name into it.
    """
    wanted: dict[str, set[str]] = {}
    cut = Cut()
    waiting = [(module.__name__, name) for module, name in roots]
    while waiting:
        module, name = waiting.pop()
        if name in given or name in wanted.get(module, ()):
            continue
        source = _read(module)
        if name not in source.nodes:
            raise KeyError(f"{module} does not define {name}")
        wanted.setdefault(module, set()).add(name)
        for used in _names(source.nodes[name]):
            waiting += _from_where(source, used, cut)
    twice = _private_twice(wanted)
    cut.text = "\n\n\n".join(_section(module, wanted[module], twice) for module in _ordered(wanted))
    return cut


def _from_where(source: _Source, used: str, cut: Cut) -> Iterator[tuple[str, str]]:
    """The (module, name) of a name that a definition uses; an import from elsewhere is noted."""
    head, _, tail = used.partition(".")
    if head in source.nodes:
        yield source.name, head
    elif head in source.modules and tail:
        yield source.modules[head], tail
    elif head in source.from_here:
        yield source.from_here[head]
    elif head in source.elsewhere:
        cut.imports.add(source.elsewhere[head])


def _names(node: ast.stmt) -> set[str]:
    """Names that a definition uses, those of annotations too; "errors.CutOff" for what is taken from a module."""
    found = {part.id for part in ast.walk(node) if isinstance(part, ast.Name)}
    return found | {f"{part.value.id}.{part.attr}" for part in ast.walk(node)
                    if isinstance(part, ast.Attribute) and isinstance(part.value, ast.Name)}


@lru_cache(maxsize=64)
def _read(module: str) -> _Source:
    text = inspect.getsource(importlib.import_module(module))
    source = _Source(module, text.splitlines(), {}, {}, {}, {})
    for node in ast.parse(text).body:
        if isinstance(node, ast.ImportFrom):
            _note_import(source, node)
        elif isinstance(node, ast.Import):
            source.elsewhere.update((name.asname or name.name, f"import {name.name}") for name in node.names)
        else:
            source.nodes.update((name, node) for name in _defined(node))
    return source


def _note_import(source: _Source, node: ast.ImportFrom) -> None:
    for alias in node.names:
        name, whole = alias.asname or alias.name, f"{node.module}.{alias.name}"
        if node.module != "lib" and not node.module.startswith("lib."):
            source.elsewhere[name] = f"from {node.module} import {alias.name}" + (f" as {name}" if alias.asname else "")
        elif _is_module(whole):
            source.modules[name] = whole
        else:
            source.from_here[name] = (_home(node.module, alias.name), alias.name)


def _home(module: str, name: str) -> str:
    """Where a name is defined that a package passes on."""
    home = getattr(getattr(importlib.import_module(module), name), "__module__", module)
    return home if home.startswith("lib.") and name in _read(home).nodes else module


def _is_module(name: str) -> bool:
    try:
        importlib.import_module(name)
    except ModuleNotFoundError:
        return False
    return True


def _defined(node: ast.stmt) -> list[str]:
    if isinstance(node, (ast.FunctionDef, ast.ClassDef)):
        return [node.name]
    targets = node.targets if isinstance(node, ast.Assign) else [node.target] if isinstance(node, ast.AnnAssign) else []
    return [part.id for target in targets for part in ast.walk(target) if isinstance(part, ast.Name)]


def _ordered(wanted: Collection[str]) -> list[str]:
    """A module comes after those that it imports from."""
    done: list[str] = []

    def visit(module: str) -> None:
        source = _read(module)
        for needed in sorted({*(home for home, _ in source.from_here.values()), *source.modules.values()}):
            if needed in wanted and needed not in done and needed != module:
                visit(needed)
        if module not in done:
            done.append(module)

    for module in sorted(wanted):
        visit(module)
    return done


def _private_twice(wanted: dict[str, set[str]]) -> set[str]:
    names = [name for found in wanted.values() for name in found]
    return {name for name in names if names.count(name) > 1}


def _section(module: str, names: Collection[str], twice: Collection[str]) -> str:
    source, pieces, last = _read(module), [], None
    for node in sorted({id(n): n for n in map(source.nodes.get, names)}.values(), key=lambda n: n.lineno):
        first = min([node.lineno, *(d.lineno for d in getattr(node, "decorator_list", ()))])
        together = last is not None and isinstance(node, (ast.Assign, ast.AnnAssign)) and isinstance(
            last, (ast.Assign, ast.AnnAssign))
        pieces.append(("" if last is None else "\n" if together else "\n\n\n")
                      + "\n".join(source.lines[first - 1:node.end_lineno]))
        last = node
    text = "".join(pieces)
    for name in source.modules:
        text = re.sub(rf"\b{name}\.(?=[A-Z])", "", text)
    for name in twice:
        if name in names:
            text = re.sub(rf"(?<![\w.]){name}\b", f"_{module.rpartition('.')[2]}{name}", text)
    title = f"# --- {module.removeprefix('lib.')} "
    return f"{title}{'-' * (119 - len(title))}-\n\n\n{text}"
