"""Which server the command line talks to, and as whom: ``OPENBOOK_URL`` and ``OPENBOOK_TOKEN``, or what ``login`` stored."""

import json
import os
from dataclasses import asdict, dataclass
from pathlib import Path


@dataclass(frozen=True)
class SignIn:
    url: str
    token: str


def path() -> Path:
    return Path(os.environ.get("XDG_CONFIG_HOME") or Path.home() / ".config") / "openbook" / "sign-in.json"


def read() -> SignIn | None:
    """``None``: nobody has signed in."""
    url, token = os.environ.get("OPENBOOK_URL"), os.environ.get("OPENBOOK_TOKEN")
    if url and token:
        return SignIn(url, token)
    try:
        return SignIn(**json.loads(path().read_text()))
    except (FileNotFoundError, ValueError, TypeError):
        return None


def write(sign_in: SignIn) -> None:
    """For its owner's eyes alone, from the first byte on."""
    path().parent.mkdir(mode=0o700, parents=True, exist_ok=True)
    new = path().with_suffix(".new")
    new.unlink(missing_ok=True)
    with open(os.open(new, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600), "w") as file:  # noqa: PTH123  (a mode)
        json.dump(asdict(sign_in), file)
    new.replace(path())


def forget() -> None:
    path().unlink(missing_ok=True)
