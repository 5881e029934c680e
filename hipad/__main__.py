"""`python -m hipad`: the command line."""

import sys

from hipad.cli import main

if __name__ == "__main__":
    sys.exit(main())
