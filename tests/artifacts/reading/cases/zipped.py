"""Archives such as office programs write."""

import io
import zipfile
from collections.abc import Mapping

from PIL import Image


def archive(members: Mapping[str, str | bytes]) -> bytes:
    """Of members by their place, in this order."""
    buffer = io.BytesIO()
    with zipfile.ZipFile(buffer, "w", zipfile.ZIP_DEFLATED) as file:
        for name, content in members.items():
            file.writestr(name, content)
    return buffer.getvalue()


def relations(related: Mapping[str, str], base: str = "") -> str:
    """Where a member of the folder ``base`` refers to: by their ids ``kind=place``, or a place whose kind is the id."""
    kinds = "http://schemas.openxmlformats.org/officeDocument/2006/relationships"
    pairs = {id: place.partition("=")[::2] if "=" in place else (id, place) for id, place in related.items()}
    inside = "".join(
        f'<Relationship Id="{id}" Type="{kinds}/{kind}" Target="{place.removeprefix(f"{base}/")}"/>'
        for id, (kind, place) in pairs.items()
    )
    return (
        f'<Relationships xmlns="http://schemas.openxmlformats.org/package/2006/relationships">{inside}</Relationships>'
    )


def picture() -> bytes:
    """A small PNG."""
    content = io.BytesIO()
    Image.new("RGB", (60, 40), "navy").save(content, "PNG")
    return content.getvalue()
