"""How commands write to a terminal: without what it would take for a command, whoever wrote the text."""

from collections.abc import Callable
from typing import TextIO, cast

from django.core.management.base import BaseCommand, OutputWrapper

from conversations.runtime.text import printable


class PrintableOutput(OutputWrapper):
    """Colours are given by ``style_func`` alone: what stands in the text itself does nothing."""

    def write(  # type: ignore[override]  # as Django's own
        self, msg: str = "", style_func: Callable[[str], str] | None = None, ending: str | None = None
    ) -> None:
        super().write(printable(msg), style_func, ending)


class PrintableCommand(BaseCommand):
    """What each command is. Names, titles and errors of services come from outside, and errors quote what they like."""

    @property
    def stdout(self) -> OutputWrapper:
        return self._stdout

    @stdout.setter
    def stdout(self, output: OutputWrapper) -> None:
        self._stdout = PrintableOutput(cast("TextIO", output._out))

    @property
    def stderr(self) -> OutputWrapper:
        return self._stderr

    @stderr.setter
    def stderr(self, output: OutputWrapper) -> None:
        self._stderr = PrintableOutput(cast("TextIO", output._out))
