"""Real tokenizers to hold the estimate against, each as a function from text to its number of tokens."""

import sys
from collections.abc import Callable

import quicktok

CL100K: Callable[[str], int] = quicktok.get_encoding("cl100k_base").count
O200K: Callable[[str], int] = quicktok.get_encoding("o200k_base").count

REFERENCES = {"cl100k": CL100K}
"""What the estimate is calibrated against."""

if sys.version_info < (3, 14):  # its wheels end there
    from anthropic_tokenizer import count_tokens

    CLAUDE: Callable[[str], int] = count_tokens
    REFERENCES = {"Claude, 2023": CLAUDE} | REFERENCES
