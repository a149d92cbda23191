"""Words, patterns and other tables that stand in ``.toml`` files beside the modules that use them."""

import re
import tomllib
from collections.abc import Mapping
from functools import cached_property
from pathlib import Path
from typing import Any, cast

PART = re.compile(r"\{([A-Z_]+)\}")


def read_tables(module_file: str | Path) -> dict[str, Any]:
    """The tables of the ``.toml`` file beside a module, of the same name."""
    return tomllib.loads(Path(module_file).with_suffix(".toml").read_text("utf-8"))


def pattern(text: str, parts: Mapping[str, str] | None = None, flags: int = re.IGNORECASE) -> re.Pattern[str]:
    """A regular expression, case aside. Line ends in it count for nothing, and ``{NAME}`` stands for the part NAME."""
    return re.compile(_whole(text, parts or {}), flags)


def pattern_for_later(text: str, parts: Mapping[str, str] | None = None, flags: int = re.IGNORECASE) -> re.Pattern[str]:
    """The same, compiled when it is first used, for those that most processes never use."""
    return cast("re.Pattern[str]", _Uncompiled(text, parts, flags))


class _Uncompiled:
    def __init__(self, text: str, parts: Mapping[str, str] | None, flags: int) -> None:
        self._text, self._parts, self._flags = text, parts, flags

    @cached_property
    def _compiled(self) -> re.Pattern[str]:
        return pattern(self._text, self._parts, self._flags)

    def __getattr__(self, name: str) -> Any:
        """A method of the pattern, which is an attribute of its own from now on."""
        value = getattr(self._compiled, name)
        setattr(self, name, value)
        return value


def _whole(text: str, parts: Mapping[str, str]) -> str:
    return PART.sub(lambda match: _whole(parts[match[1]], parts), text.replace("\n", ""))
