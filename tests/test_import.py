"""What `import hipad` brings along."""

from __future__ import annotations

import subprocess
import sys

import hipad


def test_readers_of_tables_wait_until_they_are_needed():
    code = "import sys, hipad; print([m for m in ('openpyxl', 'hipad.data') if m in sys.modules])"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "[]"


def test_every_public_name_is_there():
    for name in hipad.__all__:
        assert callable(getattr(hipad, name))
