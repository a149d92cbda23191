"""Which Openbook this is."""

from functools import cache
from importlib.metadata import version
from pathlib import Path

from django.conf import settings


@cache
def code_version() -> str:
    """Of the package where it is installed as one; else as its sources say."""
    for line in (Path(settings.BASE_DIR) / "pyproject.toml").read_text().splitlines():
        if line.startswith("version = "):
            return line.split('"')[1]
    return version("openbook")
