"""`python -m hipad`: the command line."""

from hipad.cli import console

if __name__ == "__main__":
    console()
