"""How commands write to a terminal: without what it would take for a command, whoever wrote the text."""

import os
from collections.abc import Callable
from pathlib import Path
from typing import TextIO, cast

from django.core.management.base import BaseCommand, CommandError, OutputWrapper

from conversations.runtime.text import printable


class PrintableOutput(OutputWrapper):
    """Colours are given by ``style_func`` alone: what stands in the text itself does nothing."""

    def write(  # type: ignore[override]  # as Django's own
        self, msg: str = "", style_func: Callable[[str], str] | None = None, ending: str | None = None
    ) -> None:
        super().write(printable(msg), style_func, ending)


NICENESS = 19
"""Of processes that replies go before."""


class PrintableCommand(BaseCommand):
    """What each command is. Names, titles and errors of services come from outside, and errors quote what they like."""

    is_patient = False
    """Whether replies go before it, while it is a process of its own: it computes for minutes."""

    def run_from_argv(self, argv: list[str]) -> None:
        if self.is_patient:
            os.nice(NICENESS)
        super().run_from_argv(argv)

    @property
    def stdout(self) -> OutputWrapper:
        return self._stdout

    @stdout.setter
    def stdout(self, output: OutputWrapper) -> None:
        self._stdout = PrintableOutput(cast("TextIO", output._out))

    def write_file(self, path: Path, text: str) -> None:
        """Raises ``CommandError``."""
        try:
            path.write_text(text, "utf-8")
        except OSError as error:
            raise CommandError(f"{path} can't be written: {error.strerror}") from None

    @property
    def stderr(self) -> OutputWrapper:
        return self._stderr

    @stderr.setter
    def stderr(self, output: OutputWrapper) -> None:
        self._stderr = PrintableOutput(cast("TextIO", output._out))
