"""Archives such as office programs write."""

import io
import zipfile
from collections.abc import Mapping


def archive(members: Mapping[str, str | bytes]) -> bytes:
    """Of members by their place, in this order."""
    buffer = io.BytesIO()
    with zipfile.ZipFile(buffer, "w", zipfile.ZIP_DEFLATED) as file:
        for name, content in members.items():
            file.writestr(name, content)
    return buffer.getvalue()
