"""Where the files lie that come with the library: the app and the samples.

In a source tree they stand beside the package, in an installed wheel inside it.
"""

from __future__ import annotations

from pathlib import Path
from typing import Final

PACKAGE: Final = Path(__file__).resolve().parent
BUNDLE: Final = PACKAGE / "bundle"
ROOT: Final = BUNDLE if BUNDLE.is_dir() else PACKAGE.parent

APP: Final = ROOT / "app.py"
SAMPLES: Final = ROOT / "sample_data"
