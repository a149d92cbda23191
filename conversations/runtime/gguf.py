"""What the header of a GGUF file says of its model, read without loading it.

The format: magic, version, number of tensors, number of entries; then each entry as name, type and value. By
github.com/ggml-org/ggml, docs/gguf.md. Numbers are little-endian, as in all files for the machines that Openbook runs on.
"""

import struct
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import BinaryIO

MAGIC, VERSIONS = b"GGUF", (2, 3)
STRING, ARRAY = 8, 9
NUMBERS = {0: "B", 1: "b", 2: "H", 3: "h", 4: "I", 5: "i", 6: "f", 7: "?", 10: "Q", 11: "q", 12: "d"}
"""By the type's number, as ``struct`` calls them."""
MOST_ENTRIES, LONGEST_TEXT = 10_000, 4_000_000
"""Beyond these it is no header but garbage."""
ARCHITECTURE, TEMPLATE = "general.architecture", "tokenizer.chat_template"

type Scalar = str | int | float | bool


class NotGguf(ValueError):
    """Why a file can't be read as a GGUF model, in words for the operator."""


@dataclass(frozen=True, kw_only=True)
class ModelHeader:
    """``context_tokens`` are what the model was trained for, ``template`` renders a conversation for it, in Jinja."""

    context_tokens: int
    template: str

    @property
    def calls_tools(self) -> bool:
        return "tools" in self.template


def read_header(path: Path) -> ModelHeader:
    """Raises ``NotGguf``, also where the file isn't there or can't be read."""
    try:
        with path.open("rb") as file:
            entries = _entries(file)
    except OSError as error:
        raise NotGguf(f"{path} can't be read: {error.strerror}") from error
    except (struct.error, UnicodeDecodeError) as error:
        raise NotGguf(f"{path} is damaged, or is no GGUF file") from error
    length = entries.get(f"{entries.get(ARCHITECTURE)}.context_length")
    if not isinstance(length, int) or length < 1:
        raise NotGguf(f"{path} holds no language model")
    return ModelHeader(context_tokens=length, template=str(entries.get(TEMPLATE, "")))


def _entries(file: BinaryIO) -> Mapping[str, Scalar]:
    """All but arrays, which hold the vocabulary and are passed over."""
    version, _, count = struct.unpack("<IQQ", file.read(20)) if file.read(4) == MAGIC else (0, 0, 0)
    if version not in VERSIONS or count > MOST_ENTRIES:
        raise NotGguf(f"{file.name} is no GGUF file")
    entries: dict[str, Scalar] = {}
    for _ in range(count):
        name, kind = _text(file), _number(file, "I")
        if kind == ARRAY:
            _pass_over_array(file)
        else:
            entries[name] = _text(file) if kind == STRING else _number(file, _code(kind))
    return entries


def _pass_over_array(file: BinaryIO) -> None:
    kind, count = _number(file, "I"), _number(file, "Q")
    if kind == STRING:
        for _ in range(count):
            _text(file)
    else:
        file.seek(struct.calcsize(_code(kind)) * count, 1)


def _text(file: BinaryIO) -> str:
    length = _number(file, "Q")
    if length > LONGEST_TEXT:
        raise NotGguf(f"{file.name} is damaged, or is no GGUF file")
    data = file.read(length)
    if len(data) < length:
        raise NotGguf(f"{file.name} ends before its header does")
    return data.decode(errors="replace")


def _code(kind: int) -> str:
    if kind not in NUMBERS:
        raise NotGguf("the header holds a type that is not known")
    return NUMBERS[kind]


def _number(file: BinaryIO, code: str) -> int:
    layout = f"<{code}"
    value: int = struct.unpack(layout, file.read(struct.calcsize(layout)))[0]
    return value
