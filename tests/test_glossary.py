"""People read "conversation", staff and programs "thread": docs/glossary.md."""

import re
from collections.abc import Iterator
from pathlib import Path

import pytest
from django.conf import settings

from conversations.context.explain.wording import wording
from conversations.context.reasons import PERSONAL, PERSONAL_OF_KIND, Reason
from conversations.web.examples import EXAMPLES

ROOT = Path(settings.BASE_DIR)
FOR_PROGRAMS = {"api_docs.html", "api_fields.html", "guide.html", "socket_docs.html", "tokens.html"}
PEOPLES = [
    path
    for folder in ("account", "artifacts", "conversations", "memory", "registration")
    for path in sorted((ROOT / "templates" / folder).rglob("*.html"))
    if path.name not in FOR_PROGRAMS and path.parent.name != "socket"
]
STAFFS = sorted((ROOT / "templates" / "admin").rglob("*.html"))
SCRIPTS = sorted(
    path for app in ("artifacts", "conversations", "memory") for path in (ROOT / app / "static").rglob("js/*.js")
)
THREAD = re.compile(r"(?<![\w\-/.#=\[])threads?(?![\w\-/.:=\]])", re.IGNORECASE)
CONVERSATION = re.compile(r"(?<![\w\-/.#])(?<!last )conversations?(?![\w\-/.:])", re.IGNORECASE)
TEMPLATE_CODE = re.compile(r"{%.*?%}|{{.*?}}|{#.*?#}|<script.*?</script>", re.DOTALL)
READ_ALOUD = re.compile(r'\b(?:aria-label|title|placeholder|alt)="([^"]*)"')
TAG = re.compile(r"<[^>]*>", re.DOTALL)
LITERAL = re.compile(r'"((?:[^"\\\n]|\\.)*)"|`((?:[^`\\]|\\.)*)`')
COMMENT = re.compile(r"/\*.*?\*/|(?<!:)//[^\n]*", re.DOTALL)


def words_of_template(path: Path) -> str:
    source = TEMPLATE_CODE.sub(" ", path.read_text(encoding="utf-8"))
    return "\n".join([*READ_ALOUD.findall(source), TAG.sub(" ", source)])


def words_of_script(path: Path) -> Iterator[str]:
    """Literals that are more than a word of code."""
    for quoted, template in LITERAL.findall(COMMENT.sub("", path.read_text(encoding="utf-8"))):
        text = re.sub(r"\$\{[^}]*\}", " ", quoted or template)
        if " " in text.strip() and not text.startswith((".", "#", "[", "/")):
            yield text


def name(path: Path) -> str:
    return str(path.relative_to(ROOT))


@pytest.mark.parametrize("path", PEOPLES, ids=name)
def test_pages_of_people_say_conversation(path: Path) -> None:
    assert THREAD.findall(words_of_template(path)) == []


@pytest.mark.parametrize("path", SCRIPTS, ids=name)
def test_scripts_of_people_say_conversation(path: Path) -> None:
    assert [text for text in words_of_script(path) if THREAD.search(text)] == []


def test_what_the_book_and_the_examples_say_is_for_people() -> None:
    told = [*PERSONAL.values(), *(words for kind in PERSONAL_OF_KIND.values() for words in kind.values())]
    told.append(str(wording()))
    told += [text for examples in EXAMPLES.values() for example in examples for text in map(str, example.values())]
    assert [text for text in told if THREAD.search(text)] == []


@pytest.mark.parametrize("path", STAFFS, ids=name)
def test_pages_of_staff_say_thread(path: Path) -> None:
    assert CONVERSATION.findall(words_of_template(path)) == []


def test_what_staff_read_of_a_request_says_thread() -> None:
    told = [text for reason in Reason for text in (reason.label, reason.item_label, reason.rule)]
    assert [text for text in told if CONVERSATION.search(text)] == []


def test_the_glossary_explains_each_word_once() -> None:
    rows = re.findall(r"^\| ([a-z][^|]*) \|", (ROOT / "docs" / "glossary.md").read_text(encoding="utf-8"), re.MULTILINE)
    explained = [word.strip() for row in rows if row != "word" for word in re.sub(r"\([^)]*\)", "", row).split(",")]
    assert len({*explained}) == len(explained)
    assert {"conversation", "thread", "topic", "section", "turn"} <= {*explained}
