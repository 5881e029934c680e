"""The editor as a component of the page: its script and style, and how Streamlit learns of them.

Streamlit serves the files of components that stand in an installed package's manifest. The app also
runs from a folder that nobody installed, so the manifest is given to the running server here.
`web/editor` holds the sources and builds the files.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from functools import cache
from pathlib import Path
from typing import Any, Final

import streamlit as st
from streamlit.components.v2.get_bidi_component_manager import get_bidi_component_manager
from streamlit.components.v2.manifest_scanner import ComponentConfig, ComponentManifest
from streamlit.runtime import Runtime

PACKAGE: Final = "hipad"
PART: Final = "rule_editor"
NAME: Final = f"{PACKAGE}.{PART}"
FOLDER: Final = Path(__file__).parent
HTML: Final = '<div class="hipad-place"></div>'
KEY: Final = "rules_editor"


def mount(data: Mapping[str, Any], **on_change: Callable[[], None]) -> None:
    """Draw the editor with what the server knows; `on_change` has what to do with its answers."""
    manager = get_bidi_component_manager()
    if manager.get_component_asset_root(NAME) is None:
        part = ComponentConfig(PART, asset_dir="assets")
        manager.register_from_manifest(ComponentManifest(PACKAGE, "1", [part]), FOLDER)
    _component()(key=KEY, data=dict(data), **on_change)


def answer(name: str) -> Any:
    """What the editor said last under a name, or None."""
    said = st.session_state.get(KEY)
    return said.get(name) if said is not None else None


def keep_file(content: bytes, kind: str) -> str:
    """The address at which the browser may fetch this content while the page is shown."""
    return Runtime.instance().media_file_mgr.add(content, kind, f"{KEY}.names")


@cache
def _component() -> Any:
    return st.components.v2.component(NAME, html=HTML, css="editor.css", js="editor.js")
