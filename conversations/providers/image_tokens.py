"""What a picture takes of a model's window, by the rule that its maker publishes: the rows of ``image_tokens.toml``. Pure."""

import re
from collections.abc import Mapping
from dataclasses import dataclass, fields
from functools import lru_cache
from math import ceil, sqrt
from typing import Any, Literal, Self

from conversations.runtime.word_tables import read_tables

TABLES = read_tables(__file__)


@dataclass(frozen=True, kw_only=True)
class ImageRule:
    """A row; what its columns mean stands above them."""

    longest: int
    shortest: int
    side: int
    crop: float
    single: int
    most: int
    fit: Literal["largest", "whole"]
    tokens: float
    row: int
    base: int
    fixed: int

    @classmethod
    def of(cls, row: Mapping[str, Any]) -> Self:
        values = {**TABLES["plain"], **row}
        return cls(**{field.name: values[field.name] for field in fields(cls)})

    def squares(self, width: int, height: int) -> tuple[int, int]:
        """Columns and rows of a picture as it stands."""
        if max(width, height) <= self.single:
            return 1, 1
        side = self.side or max(1, int(min(width, height) / self.crop))
        return ceil(width / side), ceil(height / side)

    def takes(self, width: int, height: int) -> bool:
        columns, rows = self.squares(width, height)
        return not self.most or columns * rows <= self.most


PLAIN = ImageRule.of({})
RULES = sorted(
    ((name, ImageRule.of(row)) for row in TABLES.values() for name in row["models"]),
    key=lambda pair: len(pair[0]),
    reverse=True,
)


@lru_cache(maxsize=256)
def image_rule(model: str) -> ImageRule:
    """The rule of a model, by its id, which may have that of a maker or of a region before it."""
    id = model.lower().replace(".", "-")
    return next((rule for name, rule in RULES if re.search(rf"(?<![a-z0-9]){name}(?![a-z0-9])", id)), PLAIN)


@lru_cache(maxsize=4_096)
def image_tokens(width: int, height: int, rule: ImageRule = PLAIN) -> int:
    """0 where there is no picture. Sizes are in pixels."""
    if not width:
        return 0
    if rule.fixed:
        return rule.fixed
    columns, rows = rule.squares(*sent_size(width, height, rule))
    return rule.base + ceil(round(columns * rows * rule.tokens, 6)) + rows * rule.row


def sent_size(width: int, height: int, rule: ImageRule) -> tuple[int, int]:
    """The size that the model sees, which is never larger."""
    if rule.longest:
        width, height = _scaled(width, height, rule.longest / max(width, height))
    if rule.shortest:
        width, height = _scaled(width, height, rule.shortest / min(width, height))
    if rule.takes(width, height):
        return width, height
    if rule.fit == "whole":
        return _whole_squares(width, height, rule)
    long = max(width, height)
    sizes = (_scaled(width, height, side / long) for side in range(long, 0, -1))
    return next(size for size in sizes if rule.takes(*size))


def _whole_squares(width: int, height: int, rule: ImageRule) -> tuple[int, int]:
    """By the area that the squares have together, and then a little less, so that one side is covered by whole ones."""
    scale = sqrt(rule.side**2 * rule.most / (width * height))
    across, down = width * scale / rule.side, height * scale / rule.side
    scale *= min(max(int(each), 1) / each for each in (across, down))
    return _scaled(width, height, scale)


def _scaled(width: int, height: int, scale: float) -> tuple[int, int]:
    scale = min(scale, 1.0)
    return max(1, round(width * scale)), max(1, round(height * scale))
