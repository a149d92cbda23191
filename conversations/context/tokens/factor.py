"""How many tokens of a model an estimated one is. Pure; what is known of it is learnt in ``token_calibration``."""

import math

from conversations.runtime.values import dataclass


@dataclass(frozen=True, kw_only=True)
class Factor:
    """Tokens of a model for each estimated one. ``samples`` are the requests that say so, 0 where it is the shipped value."""

    value: float = 1.0
    samples: int = 0

    def of_estimate(self, tokens: int) -> int:
        """Estimated tokens as the model's."""
        return round(tokens * self.value)

    def of_counted(self, tokens: int) -> int:
        """So many tokens that the model's provider counted, as estimated ones that stand for no fewer."""
        return math.ceil(tokens / self.value)

    def to_estimate(self, tokens: int) -> int:
        """How many estimated tokens fit so many of the model's."""
        return int(tokens / self.value)


PLAIN = Factor()
