"""The scripts of pages: joined where the static files are gathered, read as they are from source."""

import re
from pathlib import Path

import pytest
from django.conf import settings as django_settings
from django.core.management import CommandError, call_command
from pytest_django import Settings

from config.management.commands.collectstatic import bundle
from config.server import scripts

TEMPLATES = django_settings.BASE_DIR / "templates"
USED = re.compile(r"{% script '([^']+)' %}")
IMPORTED = re.compile(r"""(?:from|import)\s?\(?["']([\w./-]+)["']""")
MADE = re.compile(r"(\./[\w-]+-\w{8}\.js|\.\./\.\./languages/\w+\.js|katex|highlight)")


def test_each_script_that_pages_name_is_joined() -> None:
    named = {name for path in TEMPLATES.rglob("*.html") for name in USED.findall(path.read_text())}
    assert named == {*scripts.BUNDLED}


def test_a_joined_script_asks_for_little_more(
    settings: Settings, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    scripts._is_made.cache_clear()
    settings.STATIC_ROOT = tmp_path
    page = "conversations/js/app.js"
    assert scripts.path_of(page) == page
    scripts._is_made.cache_clear()
    call_command("collectstatic", interactive=False, verbosity=0)
    made = {scripts.path_of(script) for script in scripts.BUNDLED}
    assert len(made) == len(scripts.BUNDLED)
    assert page not in made
    imported = {name for path in (tmp_path / scripts.FOLDER).iterdir() for name in IMPORTED.findall(path.read_text())}
    assert [name for name in imported if not MADE.fullmatch(name)] == []
    settings.DEBUG = True
    assert scripts.path_of(page) == page
    scripts._is_made.cache_clear()


def test_what_is_missing_is_named(tmp_path: Path) -> None:
    with pytest.raises(CommandError, match="npm ci"):
        bundle(tmp_path, tmp_path)
