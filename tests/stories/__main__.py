"""``python -m tests.stories --accept NAME``: take what a story's requests hold now for what they should hold."""

import argparse
import os
import sys
from pathlib import Path

import pytest

from tests.stories.expectations import ACCEPTED, names


def main() -> int:
    parser = argparse.ArgumentParser(prog="python -m tests.stories", description=__doc__)
    parser.add_argument("--accept", action="append", default=[], choices=names(), metavar="NAME")
    os.environ[ACCEPTED] = " ".join(parser.parse_args().accept)
    return pytest.main([str(Path(__file__).parent), "-n0", "-q"])


if __name__ == "__main__":
    sys.exit(main())
