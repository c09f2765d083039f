"""The site: `sphinx-build -W docs out/site`. CONTRIBUTING.md says how to build and check it."""

from __future__ import annotations

import importlib
import inspect
import os
import posixpath
import re
import sys
from pathlib import Path
from typing import Any, ClassVar

from docutils import nodes
from docutils.parsers.rst import Directive
from docutils.statemachine import StringList
from sphinx.ext.autodoc.mock import mock
from sphinx.pycode import ModuleAnalyzer
from sphinx.util.nodes import nested_parse_with_titles

import dtau

HERE = Path(__file__).parent
sys.path.append(str(HERE.parent / "src/python"))

import renew  # noqa: E402
import typed_calls  # noqa: E402

project = "dtau"
release = version = dtau.__version__
copyright = "the authors of dtau; BSD 3-Clause license"
extensions = [
    "myst_nb",
    "sphinx.ext.autodoc",
    "sphinx.ext.napoleon",
    "sphinx.ext.viewcode",
    "sphinx_copybutton",
]
exclude_patterns = ["**.ipynb_checkpoints"]

# Pages that are also read on GitHub, and the notebooks, which run
myst_heading_anchors = 4
nb_execution_mode = "force"
nb_execution_raise_on_error = True
nb_execution_timeout = 120
nb_merge_streams = True
os.environ["MATPLOTLIBRC"] = str(HERE)  # one look for all figures
os.environ["JUPYTER_PLATFORM_DIRS"] = "1"

# The API: docstrings as they are
default_role = "py:obj"
autodoc_typehints = "none"
autodoc_member_order = "bysource"
autodoc_mock_imports = ["crocoddyl"]  # needs an environment of its own
napoleon_google_docstring = False
napoleon_use_ivar = True
napoleon_use_rtype = False
toc_object_entries_show_parents = "hide"
linkcheck_anchors = False

# The theme
html_theme = "furo"
html_title = "dtau"
html_static_path = ["_static"]
html_css_files = ["site.css"]
html_copy_source = False
html_show_sphinx = False
html_theme_options = {"navigation_with_keys": True}

# Links of pages that are also read on GitHub to files above docs/, and where the site has these
ABOVE = {
    "../README.md#install": "tutorials/first_contact.md#install",
    "../README.md": "index.md",
    "../REFERENCES.md": "project/references.md",
    "../CONTRIBUTING.md": "project/contributing.md",
    "../STYLE.md": "project/STYLE.md",
    "../RELEASING.md": "project/RELEASING.md",
    "../CHANGELOG.md": "project/changelog.md",
    "../SECURITY.md": "project/security.md",
    "../benchmarks/README.md": "project/measuring.md",
}


# Below the page of benchmarks, if `python -m benchmarks --docs` has written their tables
TABLES = """
```{toctree}
:hidden:
:glob:

benchmarks/*
```
"""


def with_tables(_app: Any, name: str, source: list[str]) -> None:
    """Lead the experiments of the page of benchmarks to the pages of their tables."""
    found = [path.stem for path in (HERE / "benchmarks").glob("*.md")]
    if name == "benchmarks" and found:
        text = re.sub(
            rf"^\| (`({'|'.join(found)})`) ", r"| [\1](benchmarks/\2.md) ", source[0], flags=re.M
        )
        source[0] = text + TABLES


def with_calls(_app: Any, name: str, source: list[str]) -> None:
    """List the typed calls of the C++ library, which come from the registry."""
    if name == "api/cpp_calls":
        source[0] += typed_calls.sections()


def on_the_site(_app: Any, name: str, source: list[str]) -> None:
    """Lead links above docs/ to the pages of the site that include these files."""
    up = "../" * name.count("/")
    for path, page in ABOVE.items():
        source[0] = re.sub(rf"\]\({re.escape(path)}(?=[)#])", f"]({up}{page}", source[0])


def with_formulas(_app: Any, _what: str, _name: str, _o: Any, _opt: Any, lines: list[str]) -> None:
    """Set what docstrings indent after a blank line as it stands: formulas."""
    for i in reversed(range(2, len(lines))):
        before, blank, line = lines[i - 2 : i + 1]
        if line.startswith("    ") and not blank and before and not before.startswith(" "):
            lines[i:i] = ["::", ""]


class Names(Directive):
    """A table of functions and classes of a module, and below it what their docstrings say.

    Of the names that are listed, and of the functions of a topic; else of all functions that the
    module has, or of its classes.
    """

    required_arguments = 1
    option_spec: ClassVar = {"topic": str}
    has_content = True

    def run(self) -> list[Any]:
        """The directives of Sphinx that this stands for."""
        name = self.arguments[0]
        with mock(autodoc_mock_imports):
            module = importlib.import_module(name)
        names = list(self.content)
        if "topic" in self.options:
            names += renew.topic(self.options["topic"], renew.modules())
        names = names or [x for x in module.__all__ if not isinstance(getattr(module, x), type)]
        names = names or module.__all__
        lines = [f".. currentmodule:: {name}", "", ".. list-table::", "   :class: names", ""]
        for x in names:
            item = getattr(module, x)
            if callable(item):
                summary = (inspect.getdoc(item) or "").partition("\n\n")[0]
            else:  # data, of which comments "#:" say what it is
                documented = ModuleAnalyzer.for_module(name).find_attr_docs()
                summary = " ".join(documented["", x]).strip()
            lines += [f"   * - `{x}`", "     - " + summary.replace("\n", " ")]
        lines += [""]
        for x in names:
            item = getattr(module, x)
            if not callable(item):
                lines += [f".. autodata:: {x}", ""]
            elif not isinstance(item, type):
                lines += [f".. autofunction:: {x}", ""]
            elif issubclass(item, tuple | Exception):  # fields are in the signature
                lines += [f".. autoclass:: {x}", ""]
            else:
                lines += [f".. autoclass:: {x}", "   :members:", "   :inherited-members:", ""]
        where = nodes.section()
        where.document = self.state.document
        self.state.nested_parse(StringList(lines, self.state_machine.document["source"]), 0, where)
        return where.children


class Headers(Directive):
    """The comments and code of a C++ header of include/."""

    required_arguments = 1

    def run(self) -> list[Any]:
        """A section with the header, less what only the compiler reads."""
        name = self.arguments[0]
        text = (HERE.parent / "include" / name).read_text(encoding="utf-8")
        end = text.rfind("\n}  // namespace dtau")
        code = text[text.index("namespace dtau {\n") + len("namespace dtau {\n") : end]
        comment, *_ = text.partition("\n#pragma once")
        title = f"``<{name}>``"
        lines = [title, "-" * len(title), "", ".. code-block:: cpp", ""]
        lines += [f"   {line}".rstrip() for line in f"{comment}\n\n{code.strip()}".splitlines()]
        where = nodes.section()
        where.document = self.state.document
        nested_parse_with_titles(
            self.state, StringList(lines, self.state_machine.document["source"]), where
        )
        return where.children


def name_pages(app: Any, tree: nodes.document, page: str) -> None:
    """Call pages by their titles where a link, for a reader of the files, has the file's name."""
    for link in tree.findall(nodes.reference):
        if link.get("internal") and re.fullmatch(r"[\w/]+\.md", link.astext()):
            path = posixpath.join(posixpath.dirname(page), link["refuri"].partition("#")[0])
            title = app.env.titles.get(posixpath.normpath(path).removesuffix(".html"))
            if title is not None:
                link.children = [nodes.inline("", title.astext())]


def link_names(app: Any, tree: nodes.document, page: str) -> None:
    """Lead public names, set as code on a page, to what the API says of them."""
    known = {
        name: (entry.docname, entry.node_id)
        for name, entry in app.env.get_domain("py").objects.items()
        if entry.objtype in ("function", "class", "exception", "method")
    }
    for code in list(tree.findall(nodes.literal)):
        name = code.astext().partition("(")[0]
        name = name if name.startswith("dtau.") else f"dtau.{name}"
        if name in known and not any(
            isinstance(x, nodes.reference | nodes.title) for x in up(code)
        ):
            at, anchor = known[name]
            target = app.builder.get_relative_uri(page, at) + f"#{anchor}"
            link = nodes.reference("", "", code.deepcopy(), internal=True, refuri=target)
            code.replace_self(link)


def llms_on_the_site(text: str) -> str:
    """Lead the links of llms.txt to the pages of the site."""
    return re.sub(r"\]\(docs/([\w/]+)\.md\)", r"](\1.html)", text)


def write_llms(app: Any, error: Exception | None) -> None:
    """Put llms.txt at the root of the site."""
    if error is None and app.builder.format == "html":
        text = (HERE.parent / "llms.txt").read_text(encoding="utf-8")
        (Path(app.outdir) / "llms.txt").write_text(llms_on_the_site(text), encoding="utf-8")


def up(node: Any) -> Any:
    """The nodes that a node is in."""
    while node := node.parent:
        yield node


def setup(app: Any) -> None:
    """Sphinx calls this."""
    app.add_directive("names", Names)
    app.add_directive("headers", Headers)
    app.connect("autodoc-process-docstring", with_formulas, priority=400)  # before napoleon
    app.connect("source-read", on_the_site)
    app.connect("source-read", with_tables)
    app.connect("source-read", with_calls)
    app.connect("doctree-resolved", name_pages)
    app.connect("doctree-resolved", link_names)
    app.connect("build-finished", write_llms)
