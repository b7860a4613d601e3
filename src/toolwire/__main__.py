"""`python -m toolwire`: the same as the command `toolwire`."""

import sys

from toolwire.cli import main

if __name__ == "__main__":
    sys.exit(main())
