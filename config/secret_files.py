"""Secrets that lie in files, as container engines, Kubernetes and systemd hand them over.

Apart from the settings so that it can be tried with any environment.
"""

from collections.abc import Mapping
from pathlib import Path

from django.core.exceptions import ImproperlyConfigured


def secret(environment: Mapping[str, str], name: str, default: str = "") -> str:
    """The value of ``name``, or the one line in the file that ``{name}_FILE`` names. Raises ImproperlyConfigured where both
    are set, or the file can't be read, is empty or holds several lines."""
    value, file = (environment.get(each, "").strip() for each in (name, f"{name}_FILE"))
    if not file:
        return value or default
    if value:
        raise ImproperlyConfigured(f"Both {name} and {name}_FILE are set; take one of them away.")
    try:
        content = Path(file).read_text(encoding="utf-8").strip()
    except OSError as error:
        raise ImproperlyConfigured(
            f"{name}_FILE can't be read: {file}: {error.strerror}. It must be a file that this process's user may read."
        ) from error
    except UnicodeDecodeError as error:
        raise ImproperlyConfigured(f"{name}_FILE can't be read: {file} is not text in UTF-8.") from error
    if len(content.splitlines()) != 1:
        problem = "holds more than one line" if content else "is empty"
        raise ImproperlyConfigured(f"{name}_FILE names {file}, which {problem}; write the value alone into it.")
    return content
