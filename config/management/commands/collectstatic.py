"""Gathers the static files, texts of scripts among them, and makes one script of all that the larger pages import."""

import shutil
import subprocess
from pathlib import Path
from typing import Any

from django.conf import settings
from django.contrib.staticfiles.management.commands import collectstatic
from django.core.management import CommandError

from config.languages import catalogues
from config.management.output import PrintableCommand
from config.server.scripts import BUNDLED, FOLDER, name_of

VENDOR = "vendor"
JOINED = {"marked": "marked/marked.esm.js", "dompurify": "dompurify/purify.es.mjs", "diff": "diff/diff"}
"""As the page's import map names them, where scripts are read from source."""
LOADED_APART = ("katex", "highlight", "../../languages/*")
"""By the page's import map, as they are large, and the language of the page."""
OPTIONS = (
    *("--bundle", "--splitting", "--format=esm", "--minify-whitespace", "--minify-syntax", "--log-level=warning"),
    "--tsconfig-raw={}",
    *(f"--external:{name}" for name in LOADED_APART),
)


class Command(PrintableCommand, collectstatic.Command):
    def execute(self, *args: Any, **options: Any) -> Any:
        catalogues.compile_stale()  # before it is checked whether their folder is there
        return super().execute(*args, **options)

    def collect(self) -> dict[str, list[str]]:
        report: dict[str, list[str]] = super().collect()
        if not self.dry_run:
            bundle(Path(settings.STATIC_ROOT), settings.BASE_DIR / "node_modules")
        return report


def bundle(root: Path, modules: Path) -> None:
    """Write the bundles of the files in ``root`` beside them. Raises ``CommandError`` where esbuild is missing or fails."""
    program = next(modules.glob("@esbuild/*/bin/esbuild"), None)
    if program is None:
        raise CommandError("esbuild is missing, which joins the scripts of a page. Install it with: npm ci --omit=dev")
    shutil.rmtree(root / FOLDER, ignore_errors=True)
    for script in BUNDLED:
        _bundle(program, root, script)


def _bundle(program: Path, root: Path, script: str) -> None:
    """A page's own: what two pages share is in both, so that neither needs more than its one."""
    target = root / FOLDER / name_of(script)
    places = [f"--entry-names={target.stem}", f"--outdir={target.parent}"]
    named = [f"--alias:{name}={root / VENDOR / path}" for name, path in JOINED.items()]
    command = [str(program), str(root / script), *OPTIONS, *named, *places]
    ran = subprocess.run(command, capture_output=True, text=True, check=False)  # noqa: S603
    if ran.returncode or ran.stderr:
        raise CommandError(f"The script {script} could not be made: {ran.stderr}")
