"""Every public name is documented as numpydoc asks, with an example that is run."""

from __future__ import annotations

import ast
import builtins
import doctest
import inspect
import re
import sys
from importlib import import_module
from pathlib import Path
from typing import Any

import pytest
from numpydoc.docscrape import get_doc_object
from numpydoc.validate import validate

import hipad
from hipad import display

NEEDLESS = {"ES01"}  # where one sentence says it all, a second paragraph would say it again
SCREENS = 2 * 50  # lines
API = (Path(__file__).resolve().parents[1] / "docs" / "api.md").read_text("utf-8")
PUBLIC = sorted(set(re.findall(r"^   ([\w.]+)$", API, re.MULTILINE)))  # below `hipad`


def resolve(name: str) -> Any:
    """Return what a name of the API page stands for."""
    module, _, own = f"hipad.{name}".rpartition(".")
    return getattr(import_module(module), own)


def test_the_api_page_lists_the_public_names():
    assert set(hipad.__all__) == {name for name in PUBLIC if "." not in name}
    assert {f"display.{name}" for name in display.__all__} <= set(PUBLIC)


def public_methods() -> list[str]:
    """Methods of public classes that stand in this library and explain what they take."""
    found = []
    for name in PUBLIC:
        owner = resolve(name)
        for method in vars(owner) if inspect.isclass(owner) else ():
            text = inspect.getdoc(getattr(owner, method)) or ""
            own = not method.startswith("_") and not method.endswith("_request")
            if own and "Parameters\n---" in text:
                found.append(f"{name}.{method}")
    return found


def faults(name: str, needless: set[str]) -> list[str]:
    found = validate(f"hipad.{name}")["errors"]
    return [f"{code}: {message}" for code, message in found if code not in needless]


@pytest.mark.parametrize("name", PUBLIC)
def test_a_public_name_is_documented_in_full(name):
    assert faults(name, NEEDLESS) == []
    assert get_doc_object(resolve(name))["Parameters"] or not takes_arguments(name)


def takes_arguments(name: str) -> bool:
    """Whether a name has parameters of its own; errors take a message, as all do."""
    found = resolve(name)
    return not (isinstance(found, type) and issubclass(found, Exception))


@pytest.mark.parametrize("name", public_methods())
def test_a_method_of_a_public_class_is_documented(name):
    assert faults(name, NEEDLESS | {"EX01", "SA01", "SA04"}) == []


def unbound(source: str) -> set[str]:
    """Names that a program reads and nowhere imports or assigns."""
    nodes = list(ast.walk(ast.parse(source)))
    bound = {alias.asname or alias.name for n in nodes for alias in getattr(n, "names", [])}
    named = [n for n in nodes if isinstance(n, ast.Name)]
    bound |= {n.id for n in named if isinstance(n.ctx, ast.Store)}
    bound |= {n.name for n in nodes if isinstance(n, ast.ExceptHandler) and n.name}
    return {n.id for n in named} - bound - set(dir(builtins))


@pytest.mark.parametrize("name", PUBLIC)
def test_the_example_of_a_public_name_stands_by_itself(name):
    """As a reader would paste it; pytest runs it with all doctests."""
    (example,) = doctest.DocTestFinder(recurse=False).find(resolve(name), name, globs={})
    source = "".join(one.source for one in example.examples)
    assert re.search(r"^from hipad(?:\.\w+)* import", source, re.MULTILINE)
    assert unbound(source) == set()


def test_a_name_from_nowhere_is_found():
    assert unbound("import a\nfor b in a.c(d):\n    print(b)") == {"d"}


def test_help_on_the_classifier_reads_in_two_screens():
    text = inspect.getdoc(hipad.HIPADClassifier)
    assert text is not None
    assert len(text.splitlines()) <= SCREENS


def test_a_missing_section_is_found(monkeypatch):
    def bare(x: int) -> int:
        """Double a number."""
        return 2 * x

    module = sys.modules[__name__]
    monkeypatch.setattr(module, "bare", bare, raising=False)
    monkeypatch.setitem(sys.modules, "docstring_without_sections", module)
    found = {code for code, _ in validate("docstring_without_sections.bare")["errors"]}
    assert {"PR01", "RT01", "EX01", "SA01"} <= found
