"""The scripts that pages load, each with all that it imports in one file, where ``collectstatic`` has made that file.

A chat page imports more than eighty modules, four deep: as files of their own that is a request for each, and each level of
them waits for the one before. Read from source, as ``make dev`` does, the modules are loaded as they are.
"""

from functools import cache
from pathlib import Path

from django.conf import settings

FOLDER = "bundles/js"
"""As deep as the scripts themselves, so that what they load by a relative address lies where they look for it."""
BUNDLED = (
    "conversations/js/app.js",
    "conversations/js/banners.js",
    "conversations/js/browser-settings.js",
    "conversations/js/passkeys.js",
    "conversations/js/print.js",
    "conversations/js/project-page.js",
    "conversations/js/prompts-page.js",
    "conversations/js/session.js",
    "memory/js/page.js",
)


def path_of(script: str) -> str:
    """Under the folder of static files: the bundle of that script, or where there is none, the script itself."""
    bundle = f"{FOLDER}/{name_of(script)}"
    return bundle if script in BUNDLED and not settings.DEBUG and _is_made(bundle) else script


def name_of(script: str) -> str:
    return script.replace("/js/", "-")


@cache
def _is_made(bundle: str) -> bool:
    return (Path(settings.STATIC_ROOT) / bundle).is_file()
