"""``python -m tests.model_server --port 8123`` serves the default reply."""

import argparse
import sys
import threading
from functools import partial

from tests.model_scripts import echo
from tests.model_server import ModelServer


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--port", type=int, default=0)
    parser.add_argument("--delay", type=float, default=0.02, help="seconds before each word")
    options = parser.parse_args()
    with ModelServer(port=options.port, responder=partial(echo, delay=options.delay)) as server:
        sys.stdout.write(f"{server.url}\n")
        sys.stdout.flush()
        try:
            threading.Event().wait()
        except KeyboardInterrupt:
            return


if __name__ == "__main__":
    main()
