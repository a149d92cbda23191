"""Real tokenizers to hold the estimate against, each as a function from text to its number of tokens."""

import sys
from collections.abc import Callable
from functools import cache

import quicktok

encoding = cache(quicktok.get_encoding)  # half a second, which a process that only collects the tests saves


def CL100K(text: str) -> int:  # noqa: N802
    return int(encoding("cl100k_base").count(text))


def O200K(text: str) -> int:  # noqa: N802
    return int(encoding("o200k_base").count(text))


REFERENCES: dict[str, Callable[[str], int]] = {"cl100k": CL100K}
"""What the estimate is calibrated against."""

if sys.version_info < (3, 14):  # its wheels end there
    from anthropic_tokenizer import count_tokens

    CLAUDE: Callable[[str], int] = count_tokens
    REFERENCES = {"Claude, 2023": CLAUDE} | REFERENCES
