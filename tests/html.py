"""Pages as a browser reads them."""

import re

BLOCK = r"dd|div|dl|dt|h\d|li|ol|p|path|rect|summary|table|tbody|td|tfoot|th|thead|tr|ul"


def as_read(html: str) -> str:
    """A line break is a space, in text and in tags, and nothing beside what stands on lines of its own."""
    spaced = re.sub(r" (/?>)", r"\1", re.sub(r"\s+", " ", html))
    return re.sub(rf" ?(</?(?:{BLOCK})\b[^>]*>) ?", r"\1", spaced)
