"""The shape of every step that chooses what a request is given."""

from collections.abc import Callable

from conversations.context.choose.choice import Choice
from conversations.context.gather.material import Material
from conversations.context.gather.reader import Reader
from conversations.runtime.values import dataclass


@dataclass(frozen=True, kw_only=True)
class Step:
    """``name`` is that of its line in the timings of a request, ``label`` what staff read there.

    ``choose`` is pure. ``read`` gathers what it needs that isn't in the material yet, and may go by what was chosen before.
    """

    name: str
    label: str
    choose: Callable[[Material, Choice], Choice]
    read: Callable[[Reader, Material, Choice], Material] | None = None
