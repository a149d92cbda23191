"""Messages of many kinds to hold the estimate against real tokenizers. Written for this purpose; seeded, so always the same.

The texts of each kind are dealt into two halves that share no sentence: one to calibrate with, one held out.
"""

import base64
import json
import random
from collections.abc import Callable, Iterator, Sequence
from functools import cache
from pathlib import Path

FOLDER = Path(__file__).parent / "corpora"
MESSAGES = 60
"""Of each kind and half."""

FIRST_NAMES = ("Ada", "Bruno", "Chiara", "Dmitri", "Elif", "Farid", "Grace", "Hiro", "Ines", "Jonas", "Kofi", "Lena")
NOUNS = ("invoice", "order", "customer", "shipment", "session", "document", "warehouse", "ticket", "payment", "report")
WORDS = ("harbour", "meeting", "draft", "quarterly", "blue", "pending", "north", "refund", "weekly", "archive", "final")
STATUSES = ("active", "archived", "pending", "failed", "in_progress", "shipped")
LONG_NAMES = (
    "created_at",
    "updated_at",
    "isVerified",
    "billingAddress",
    "retry_count",
    "externalId",
    "taxRate",
    "tags",
)

type Half = Sequence[str]
type Maker = Callable[[random.Random, Half], str]


@cache
def corpus(half: int) -> dict[str, list[str]]:
    """Messages by kind; ``half`` 0 is for calibrating, 1 is held out."""
    made = {}
    for kind, (source, maker) in KINDS.items():
        chooser = random.Random(f"{kind} {half}")
        texts = _texts(source)[half::2] if source else []
        made[kind] = [maker(chooser, texts) for _ in range(MESSAGES)]
    return made


def _texts(source: str) -> list[str]:
    content = (FOLDER / f"{source}.txt").read_text(encoding="utf-8")
    return content.rstrip("\n").split("\n%%\n" if "\n%%\n" in content else "\n")


def _message(chooser: random.Random, texts: Half) -> str:
    """Sentences as in a message: some short, some of several paragraphs."""
    chosen = chooser.sample(texts, chooser.randint(3, min(9, len(texts))))
    joints = chooser.choices((" ", "\n", "\n\n"), (8, 1, 2), k=len(chosen))
    return "".join(text + joint for text, joint in zip(chosen, joints, strict=True)).strip()


def _joined(chooser: random.Random, texts: Half) -> str:
    """As ``_message``, in a script without spaces between sentences."""
    chosen = chooser.sample(texts, chooser.randint(3, min(9, len(texts))))
    joints = chooser.choices(("", "\n", "\n\n"), (8, 1, 2), k=len(chosen))
    return "".join(text + joint for text, joint in zip(chosen, joints, strict=True)).strip()


def _code(chooser: random.Random, texts: Half) -> str:
    return "\n\n".join(chooser.sample(texts, chooser.randint(1, 3)))


def _answer_with_code(chooser: random.Random, texts: Half) -> str:
    """Markdown as a model answers it."""
    prose = _texts("english_prose")
    heading = f"## {chooser.choice(WORDS).title()} and {chooser.choice(NOUNS)}s"
    points = [f"- **{chooser.choice(WORDS).title()}**: {text}" for text in chooser.sample(prose, 3)]
    return "\n".join((heading, "", *points, "", "```", chooser.choice(texts), "```", "", chooser.choice(prose)))


def _record(chooser: random.Random, depth: int = 0) -> dict[str, object]:
    record: dict[str, object] = {
        "id": chooser.randint(1, 99_999),
        "name": f"{chooser.choice(FIRST_NAMES)} {chooser.choice(NOUNS).title()}",
        "status": chooser.choice(STATUSES),
    }
    for name in chooser.sample(LONG_NAMES, chooser.randint(2, 5)):
        record[name] = _value(chooser, name)
    if depth < 2 and chooser.random() < 0.6:
        record[f"{chooser.choice(NOUNS)}s"] = [_record(chooser, depth + 1) for _ in range(chooser.randint(1, 3))]
    return record


def _value(chooser: random.Random, name: str) -> object:
    if name.endswith("_at"):
        return f"2026-{chooser.randint(1, 12):02}-{chooser.randint(1, 28):02}T{chooser.randint(0, 23):02}:15:07Z"
    return {
        "isVerified": chooser.random() < 0.5,
        "billingAddress": {
            "street": f"{chooser.randint(1, 200)} Mill Lane",
            "zip": f"{chooser.randint(10_000, 99_999)}",
        },
        "retry_count": chooser.choice((0, 1, 2, None)),
        "externalId": f"{chooser.getrandbits(64):016x}",
        "taxRate": round(chooser.random(), 3),
        "tags": chooser.sample(WORDS, 3),
    }[name]


def _json_pretty(chooser: random.Random, _: Half) -> str:
    return json.dumps(_record(chooser), indent=chooser.choice((2, 4)))


def _json_minified(chooser: random.Random, _: Half) -> str:
    return json.dumps([_record(chooser) for _ in range(chooser.randint(1, 3))], separators=(",", ":"))


def _ids(chooser: random.Random, _: Half) -> str:
    return "\n".join(chooser.choice(ID_MAKERS)(chooser) for _ in range(chooser.randint(3, 10)))


def _uuid(chooser: random.Random) -> str:
    digits = f"{chooser.getrandbits(128):032x}"
    return "-".join((digits[:8], digits[8:12], digits[12:16], digits[16:20], digits[20:]))


ID_MAKERS: tuple[Callable[[random.Random], str], ...] = (
    lambda chooser: base64.b64encode(chooser.randbytes(chooser.randint(12, 90))).decode(),
    lambda chooser: chooser.randbytes(chooser.randint(8, 32)).hex(),
    _uuid,
    lambda chooser: f"sk_test_{base64.urlsafe_b64encode(chooser.randbytes(24)).decode().strip('=')}",
)


def _urls(chooser: random.Random, _: Half) -> str:
    return "\n".join(_url(chooser) for _ in range(chooser.randint(3, 8)))


def _url(chooser: random.Random) -> str:
    path = "/".join(chooser.sample(WORDS, chooser.randint(1, 3)))
    query = f"?page={chooser.randint(1, 90)}&ref={chooser.getrandbits(32):x}" if chooser.random() < 0.5 else ""
    host = f"{chooser.choice(('www.', 'docs.', ''))}{chooser.choice(NOUNS)}-{chooser.choice(WORDS)}.example"
    return f"https://{host}/{path}{query}"


def _numbers(chooser: random.Random, _: Half) -> str:
    rows = [
        f"{chooser.randint(1900, 2030)}, {chooser.uniform(0, 9999):.2f}, {chooser.randint(0, 10 ** chooser.randint(1, 9)):,}"
        for _ in range(chooser.randint(6, 20))
    ]
    return "\n".join(rows)


def _table(chooser: random.Random, _: Half) -> str:
    rows = [_row(chooser) for _ in range(chooser.randint(4, 14))]
    return "\n".join(("| Name | Status | Orders | Share |", "|---|---|---:|---:|", *rows))


def _row(chooser: random.Random) -> str:
    orders, share = chooser.randint(1, 9_999), chooser.random()
    return f"| {chooser.choice(FIRST_NAMES)} | {chooser.choice(STATUSES)} | {orders:,} | {share:.1%} |"


def _mixed(chooser: random.Random, _: Half) -> str:
    sources = ("english_chat", "chinese", "russian", "japanese", "european", "hindi", "arabic")
    return "\n".join(chooser.choice(_texts(source)) for source in chooser.sample(sources, chooser.randint(3, 5)))


def _emoji(chooser: random.Random, texts: Half) -> str:
    return "".join(chooser.choice(texts) + chooser.choice(("", "", " ")) for _ in range(chooser.randint(4, 12)))


def _chat_with_emoji(chooser: random.Random, texts: Half) -> str:
    chat = chooser.sample(_texts("english_chat"), chooser.randint(3, 6))
    return " ".join(f"{text} {chooser.choice(texts)}" for text in chat)


def _log(chooser: random.Random, _: Half) -> str:
    return "\n".join(_log_lines(chooser))


def _log_lines(chooser: random.Random) -> Iterator[str]:
    for _ in range(chooser.randint(4, 12)):
        time = f"2026-11-{chooser.randint(1, 28):02} {chooser.randint(0, 23):02}:04:{chooser.uniform(0, 60):06.3f}"
        level = chooser.choice(("INFO", "WARNING", "ERROR"))
        yield (
            f"{time} {level} [{chooser.choice(NOUNS)}.worker] request={chooser.getrandbits(40):010x} "
            f"{chooser.choice(NOUNS)} {chooser.choice(STATUSES)} after {chooser.randint(1, 9_000)} ms"
        )


KINDS: dict[str, tuple[str, Maker]] = {
    "English chat": ("english_chat", _message),
    "English prose": ("english_prose", _message),
    "code": ("code", _code),
    "answers with code": ("code", _answer_with_code),
    "JSON, pretty": ("", _json_pretty),
    "JSON, minified": ("", _json_minified),
    "Chinese": ("chinese", _joined),
    "Japanese": ("japanese", _joined),
    "Russian": ("russian", _message),
    "Arabic": ("arabic", _message),
    "Hindi": ("hindi", _message),
    "Korean": ("korean", _message),
    "other Latin scripts": ("european", _message),
    "other scripts": ("other_scripts", _message),
    "emoji": ("emoji", _emoji),
    "chat with emoji": ("emoji", _chat_with_emoji),
    "mixed languages": ("", _mixed),
    "ids, base64, hex": ("", _ids),
    "URLs": ("", _urls),
    "numbers": ("", _numbers),
    "tables": ("", _table),
    "logs": ("", _log),
}
