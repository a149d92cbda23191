"""``python -m conformance URL --token T --json FILE``: exits with 1 where a scenario failed, with 2 where none could run."""

import argparse
import json
import sys
from pathlib import Path

from conformance.adapters import ADAPTERS, Options
from conformance.memory import MemoryFailed
from conformance.report import Outcome, as_json, as_lines
from conformance.runner import run
from conformance.scenarios import SCENARIOS


def main(arguments: list[str] | None = None) -> int:
    options = parser().parse_args(arguments)
    names = [scenario.name for scenario in SCENARIOS]
    unknown = {*options.only} - {*names}
    if unknown:
        sys.stderr.write(f"No such scenario: {', '.join(sorted(unknown))}. There are: {', '.join(names)}.\n")
        return 2
    given = Options(url=options.url.rstrip("/"), token=options.token, other_token=options.other_token, by=options.by)
    chosen = [scenario for scenario in SCENARIOS if not options.only or scenario.name in options.only]
    try:
        with ADAPTERS[options.system](given) as memory:
            results = list(run(memory, chosen))
    except MemoryFailed as error:
        sys.stderr.write(f"{error}\n")
        return 2
    sys.stdout.writelines(f"{line}\n" for line in as_lines(options.system, results))
    if options.json:
        text = json.dumps(as_json(options.system, results), ensure_ascii=False, indent=1)
        Path(options.json).write_text(f"{text}\n", encoding="utf-8")
    if not any(result.checks for result in results):
        return 2
    return int(any(result.outcome is Outcome.FAILED for result in results))


def parser() -> argparse.ArgumentParser:
    made = argparse.ArgumentParser(prog="python -m conformance", description="Asks a memory for chat what it keeps.")
    made.add_argument("url", help="of the server, such as http://127.0.0.1:8000")
    made.add_argument("--system", choices=sorted(ADAPTERS), default="openbook", help="which API it has")
    made.add_argument("--token", default="", help="of a person")
    made.add_argument("--other-token", default="", help="of another person, for systems where a token is a person")
    made.add_argument("--by", choices=("context", "answer"), default="context", help="what Openbook is judged by")
    made.add_argument("--json", metavar="FILE", help="write the results there")
    made.add_argument("--only", nargs="+", default=[], metavar="SCENARIO", help="play these alone")
    return made


if __name__ == "__main__":
    sys.exit(main())
