"""What a picture takes of a model's window. Pure.

Claude cuts a picture into squares of 28 pixels, a token each (https://platform.claude.com/docs/en/build-with-claude/vision);
others count by tiles of their own. Openbook keeps pictures no larger than all of them take without making them smaller.
"""

from math import ceil

PATCH_PIXELS = 28


def image_tokens(width: int, height: int) -> int:
    """0 where there is no picture."""
    return ceil(width / PATCH_PIXELS) * ceil(height / PATCH_PIXELS)
