"""The header of a model's file, also where it is none."""

import struct
from pathlib import Path

import pytest

from conversations.runtime.gguf import ARCHITECTURE, TEMPLATE, ModelHeader, NotGguf, read_header


def text(value: str) -> bytes:
    return struct.pack("<Q", len(value.encode())) + value.encode()


def gguf(*entries: tuple[str, int, bytes]) -> bytes:
    """``entries`` are name, type and value."""
    head = b"GGUF" + struct.pack("<IQQ", 3, 0, len(entries))
    return head + b"".join(text(name) + struct.pack("<I", kind) + value for name, kind, value in entries)


STRING, ARRAY, UINT32, FLOAT64 = 8, 9, 4, 12
NAME = (ARCHITECTURE, STRING, text("llama"))
LENGTH = ("llama.context_length", UINT32, struct.pack("<I", 4096))


def test_arrays_and_other_types_are_passed_over(tmp_path: Path) -> None:
    words = struct.pack("<IQ", STRING, 2) + text("a") + text("bc")
    numbers = struct.pack("<IQ", FLOAT64, 2) + struct.pack("<dd", 1, 2)
    template = (TEMPLATE, STRING, text("{% if tools %}…{% endif %}"))
    (path := tmp_path / "a.gguf").write_bytes(
        gguf(NAME, ("words", ARRAY, words), ("n", ARRAY, numbers), LENGTH, template)
    )
    header = read_header(path)
    assert header == ModelHeader(context_tokens=4096, template="{% if tools %}…{% endif %}")
    assert header.calls_tools


@pytest.mark.parametrize(
    ("content", "says"),
    [
        (b"", "is no GGUF file"),
        (b"PK\x03\x04" + b"\x00" * 40, "is no GGUF file"),
        (b"GGUF" + b"\xff" * 40, "is no GGUF file"),
        (gguf(NAME, LENGTH)[:-2], "is damaged"),
        (gguf(NAME, LENGTH)[:40], "ends before its header does"),
        (gguf(NAME), "holds no language model"),
        (gguf(NAME, ("x", 99, b"")), "a type that is not known"),
        (gguf(("x", STRING, struct.pack("<Q", 2**60))), "is damaged"),
    ],
)
def test_what_is_no_model_is_told_in_words(tmp_path: Path, content: bytes, says: str) -> None:
    (path := tmp_path / "a.gguf").write_bytes(content)
    with pytest.raises(NotGguf, match=says):
        read_header(path)


def test_a_file_that_is_not_there(tmp_path: Path) -> None:
    with pytest.raises(NotGguf, match="No such file"):
        read_header(tmp_path / "none.gguf")
