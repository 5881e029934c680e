"""How the documentation is built: `make docs`. Nothing is fetched, neither now nor by a reader."""

import os
import re
import sys
from html import escape
from pathlib import Path

from latex2mathml.converter import convert
from pygments.lexers.special import TextLexer

ROOT = str(Path(__file__).resolve().parents[1])
sys.path.insert(0, ROOT)
os.environ["PYTHONPATH"] = ROOT  # for the processes that run notebooks

import hipad

project = "HIPAD Workbench"
author = "The HIPAD Workbench authors"
copyright = f"2026, {author}"
version = release = hipad.__version__

extensions = [
    "myst_nb",
    "numpydoc",
    "sphinx.ext.autodoc",
    "sphinx.ext.autosummary",
    "sphinx_design",
    "sphinx_gallery.gen_gallery",
]
exclude_patterns = ["gallery", "examples/*.ipynb", "jupyter_execute"]
default_role = "code"  # `x` is code in docstrings, as it is everywhere else
nitpicky = False
suppress_warnings = ["config.cache"]  # the order of gallery examples is a function

myst_enable_extensions = ["colon_fence", "deflist", "dollarmath"]
myst_heading_anchors = 3
nb_execution_mode = "force"
nb_execution_raise_on_error = True
nb_execution_timeout = 300

autosummary_generate = True
autodoc_typehints = "none"  # the docstrings say it in words
numpydoc_show_class_members = False
numpydoc_class_members_toctree = False

sphinx_gallery_conf = {
    "examples_dirs": "gallery",
    "gallery_dirs": "examples",
    "filename_pattern": r"/plot_",
    "within_subsection_order": "FileNameSortKey",
    "abort_on_example_error": True,
    "download_all_examples": False,
    "min_reported_time": 1_000_000,  # times of one machine are no documentation
    "show_memory": False,
    "show_signature": False,
    "write_computation_times": False,
    "image_srcset": ["2x"],
}

templates_path = ["_templates"]
html_theme = "pydata_sphinx_theme"
html_title = "HIPAD Workbench"
html_static_path = ["_static"]
html_css_files = ["custom.css"]
html_favicon = "../ui/icon.svg"
html_context = {"default_mode": "auto"}
ALONE = ("index", "start", "howto", "rules", "files", "math", "evaluation", "comparison")
ALONE += (
    "benchmarks",
    "security",
    "architecture",
    "losses",
    "contributing",
    "conduct",
    "changelog",
)
html_sidebars = {page: [] for page in ALONE}  # they have no pages below them
toc_object_entries_show_parents = "hide"
html_show_sourcelink = False
html_copy_source = False
html_theme_options = {
    "logo": {"text": "HIPAD Workbench"},
    "navbar_end": ["theme-switcher"],
    "secondary_sidebar_items": ["page-toc"],
    "show_prev_next": True,
    "header_links_before_dropdown": 5,
    "footer_start": ["copyright"],
    "footer_end": [],
}


def inline_math(self, node):
    """Formulas are MathML, which browsers show by themselves: no script, no fonts."""
    self.body.append(formula(node.astext(), "inline"))
    raise_skip()


def block_math(self, node):
    self.body.append(f'<div class="formula">{formula(node.astext(), "block")}</div>')
    raise_skip()


def formula(latex, display):
    """MathML of a formula, with its source for those who copy or listen."""
    known = latex.replace("{aligned}", "{align*}")  # the one it knows; others want it as written
    return convert(known, display=display).replace(
        "<math ", f'<math aria-label="{escape(latex)}" ', 1
    )


def raise_skip():
    from docutils.nodes import SkipNode

    raise SkipNode


# Pages that are files of the tree beside this folder; the page's own file only points there.
TAKEN = {
    "benchmarks": "benchmarks/README.md",
    "changelog": "CHANGELOG.md",
    "conduct": "CODE_OF_CONDUCT.md",
    "contributing": "CONTRIBUTING.md",
    "security": "SECURITY.md",
}
PAGE_OF = {name: f"{page}.md" for page, name in TAKEN.items()} | {"README.md": "index.md"}
BLOCKS = ("rules", "named", "statements", "refused", "blocks", "gmt")  # of the rule language


def take_file(app, page, source):
    """Show a file of the tree; its links to other files that are no pages become their names."""
    if page in TAKEN:
        source[0] = re.sub(r"\[([^\]]*)\]\((?!https?:|#)([^)]*)\)", _linked, _text(TAKEN[page]))


def _text(name):
    return (Path(ROOT) / name).read_text("utf-8")


def _linked(link):
    words, target = link.groups()
    path, hash, part = target.partition("#")
    page = PAGE_OF.get(path) or (path.removeprefix("docs/") if path.startswith("docs/") else "")
    return f"[{words}]({page}{hash}{part})" if page else f"`{words.strip('`')}`"


def setup(app):
    app.connect("source-read", take_file)
    for name in BLOCKS:
        app.add_lexer(name, TextLexer)
    app.add_html_math_renderer(
        "mathml", inline_renderers=(inline_math, None), block_renderers=(block_math, None)
    )


html_math_renderer = "mathml"
