"""Texts as points of a space in which what means much the same lies close together, by a small model of this machine's own.

Only with the optional packages: the model's two files lie within the package that brings them, and nothing is downloaded.
"""

import json
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import cache
from importlib import import_module
from importlib.util import find_spec
from pathlib import Path
from typing import Any

PACKAGE = "wordllama"
WEIGHTS = Path("weights", "l2_supercat_256.safetensors")
TOKENIZER = Path("tokenizers", "l2_supercat_tokenizer_config.json")
DIMENSIONS = 256
LONGEST_TEXT = 4_000
"""Characters of a text that are looked at: the mean of many words means nothing any more."""


class NoModel(Exception):
    """The model is not there, or is broken. The message is for staff."""


@dataclass(frozen=True, kw_only=True)
class EmbeddingModel:
    """How texts become tokens, and a row of numbers for each token."""

    tokenizer: Any
    rows: Any

    def embed(self, texts: Sequence[str]) -> Iterator[str]:
        """Each text as PostgreSQL reads a point: of length 1, or all zeros where there is nothing to tell. Pure."""
        tokens = self.tokenizer.encode_batch([text[:LONGEST_TEXT] for text in texts], add_special_tokens=False)
        for token in tokens:
            ids = [id for id in token.ids if id < len(self.rows)]
            mean = self.rows[ids].astype("float32").sum(axis=0)
            length = float((mean @ mean) ** 0.5) or 1.0
            yield json.dumps([round(number, 5) for number in (mean / length).tolist()])


def model() -> EmbeddingModel:
    """Loaded once a process. Raises ``NoModel``."""
    loaded = _loaded()
    if isinstance(loaded, NoModel):
        raise loaded
    return loaded


@cache
def _loaded() -> EmbeddingModel | NoModel:
    try:
        return load(folder())
    except NoModel as error:  # kept: to try again with each message would take long
        return error


def folder() -> Path:
    """Where the package lies, without running it. Raises ``NoModel``."""
    spec = find_spec(PACKAGE)
    if spec is None or not spec.submodule_search_locations:
        raise NoModel(f"The package {PACKAGE} is not installed.")
    return Path(spec.submodule_search_locations[0])


def load(path: Path) -> EmbeddingModel:
    """The model whose files lie there. Raises ``NoModel``."""
    try:
        tokenizer = import_module("tokenizers").Tokenizer.from_file(str(path / TOKENIZER))
        tokenizer.no_padding()
        tokenizer.no_truncation()
        (rows,) = import_module("safetensors.numpy").load_file(path / WEIGHTS).values()
    except Exception as error:  # what those packages raise for a broken file is a plain Exception
        raise NoModel(f"The model of {PACKAGE} can't be loaded: {type(error).__name__}.") from error
    if rows.ndim != 2 or rows.shape[1] != DIMENSIONS:
        raise NoModel(f"The model of {PACKAGE} is another than expected: {rows.shape}.")
    return EmbeddingModel(tokenizer=tokenizer, rows=rows)
