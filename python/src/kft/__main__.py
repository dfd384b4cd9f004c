"""The command line: python -m kft, or kft."""

import os
import subprocess
import sys

from ._process import binary


def main() -> None:
    """Run the program with the arguments of this process."""
    if os.name == "nt":
        sys.exit(subprocess.call([binary(), *sys.argv[1:]]))
    os.execv(binary(), ["kft", *sys.argv[1:]])


if __name__ == "__main__":
    main()
