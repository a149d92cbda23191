"""Make the tree of the image small: what nothing reads goes, what is imported is compiled. For deploy/Containerfile.

python deploy/slim.py        in the project's folder, with the packages installed and the static files collected
"""

import os
import pkgutil
import shutil
import sys
from collections.abc import Iterable, Iterator
from importlib import import_module
from pathlib import Path

PACKAGES = ("artifacts", "config", "conversations", "memory")
IMPORTED_LATE = (
    "anthropic.resources.beta.messages",
    "anthropic.resources.messages",
    "openai.resources.chat.completions",
    "openai.resources.models",
    "openai.resources.responses",
)
"""What clients of providers import when they are first used."""
LANGUAGES = {"ar", "de", "en", "es", "fr"}
"""Of the pages: LANGUAGES in config/settings.py."""
UNREAD = {"test", "tests", "static", "_flatc"}
"""Folders of packages; the last one is a compiler."""
FOR_COMPILERS = {".pxd", ".pxi", ".pyi", ".pyx"}
FONTS = "@expo-google-fonts"


def main() -> None:
    root = Path.cwd()
    sys.path.insert(0, str(root))
    fonts = import_module("artifacts.exporting.fonts")
    npm, installed = root / "node_modules", Path(sys.prefix) / "lib"
    for path in [*unread_npm(npm, fonts.FOLDERS), *unread_python(installed)]:
        remove(path)
    for name in (*own_modules(root), *IMPORTED_LATE):
        compiled(name)


def unread_npm(npm: Path, fonts: Iterable[str]) -> Iterator[Path]:
    """All files but the fonts of PDFs: what pages read was collected. The folders stay, as the settings name them."""
    kept = {npm / FONTS / name for name in fonts}
    for path in npm.rglob("*"):
        if (path.is_symlink() or path.is_file()) and not (path.parent in kept and path.suffix == ".ttf"):
            yield path


def unread_python(installed: Path) -> Iterator[Path]:
    """Of installed packages: their tests, what was collected, what only compilers read, and other languages."""
    for path in installed.rglob("*"):
        if path.is_dir():
            if path.name in UNREAD and path.parts[-2:] != ("django", "test"):
                yield path
            elif path.name == "LC_MESSAGES" and path.parent.name not in LANGUAGES:
                yield path.parent
        elif path.suffix in FOR_COMPILERS:
            yield path


def own_modules(root: Path) -> Iterator[str]:
    import django  # noqa: PLC0415

    os.environ.setdefault("DJANGO_SETTINGS_MODULE", "config.settings")
    django.setup()
    for package in PACKAGES:
        yield package
        for module in pkgutil.walk_packages([str(root / package)], f"{package}."):
            yield module.name


def compiled(name: str) -> None:
    """Importing writes the bytecode of a module and of all that it imports."""
    try:
        import_module(name)
    except ModuleNotFoundError as error:
        print(f"{name} is not compiled: it needs {error.name}")  # noqa: T201


def remove(path: Path) -> None:
    if path.is_dir() and not path.is_symlink():
        shutil.rmtree(path)
    else:
        path.unlink(missing_ok=True)


if __name__ == "__main__":
    main()
