"""What the offline responder makes when it is asked for an artifact: quotes of what was said, as its kind. Pure."""

import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from html import escape
from itertools import groupby

from conversations.providers.base import Payload
from conversations.providers.file_frames import read_file
from conversations.providers.markers import ARTIFACTS
from conversations.providers.offline_texts import added, exchange_of, is_question, sentences_of
from conversations.providers.quoting import NAME, unquote_name
from conversations.runtime.text import one_line, shortened
from conversations.runtime.word_tables import read_tables

SAVE = "save_artifact"
MOST_QUOTES = 40
LONGEST_TITLE = 80
ORIGIN = "Made by the offline responder without a model: it only quotes what was said in this conversation."
NOTHING_SAID = "Nothing was said yet."
TO_BE_WRITTEN = "To be written: no model is connected."

WORDS = read_tables(__file__)
COURTESIES, VERBS, CHANGE_VERBS, ARTICLES = (
    "|".join(WORDS[kind]) for kind in ("courtesies", "verbs", "change_verbs", "articles")
)
NOUNS = {kind: "|".join(nouns) for kind, nouns in WORDS["nouns"].items()}
ASKING = rf"(?:(?:{COURTESIES})[,:]?\s++)*"
VERB = rf"(?:{VERBS})(?:-moi|-nous)?"
REQUEST = re.compile(
    rf"{ASKING}{VERB}\s++(?:(?:me|us|mir|uns|bitte)\s++)*"
    rf"(?:(?:(?:{ARTICLES})\s++)+(?P<thing>\S.*)|(?P<named>.*\b(?:{'|'.join(NOUNS.values())})\b.*))",
    re.IGNORECASE,
)
CHANGE_REQUEST = re.compile(rf"{ASKING}(?:(?:{CHANGE_VERBS})\b|{VERB}\s+(?:it|them)\b).*", re.IGNORECASE)
COURTESY = re.compile(r"(?:please|bitte|s'il (?:te|vous) plaît|por favor)\Z", re.IGNORECASE)
BEFORE_STOPS = re.compile(r"(?:.*[^.!?。\s])?", re.DOTALL)
BEFORE_COMMAS = re.compile(r"(?:.*[^,\s])?", re.DOTALL)
TITLE_LINE = re.compile(r"^Title:[ \t]*(\S.*?)(?:: <[^<>]*>)?$", re.MULTILINE)
SAVED_AS = re.compile(r"save_artifact, as (\w+)(?:, language ([\w+#.-]+))?")
LISTED = re.compile(rf"^- {NAME} \((?P<kind>\w+), version \d+, id \S+\)$", re.MULTILINE)
PLACE = re.compile(rf"\b(?:{'|'.join(WORDS['places'])})\s+(\d+)\b", re.IGNORECASE)
COLUMN = re.compile(r"\S+(?: [%€$£])?")
STRUCTURE = re.compile(r"^\d+\. ([^:.,\n]{1,40})[:.,]", re.MULTILINE)


@dataclass(frozen=True, kw_only=True)
class ArtifactRequest:
    """``by_preset``: a preset's instruction asks, so what else it says is nobody's words. It tells the ``headings``."""

    title: str
    kind: str
    language: str = ""
    by_preset: bool = False
    headings: Sequence[str] = ()


@dataclass(frozen=True, kw_only=True)
class UserSentences:
    statements: Sequence[str]
    questions: Sequence[str]


def artifact_asked_for(payload: Payload) -> dict[str, str] | None:
    """The input for ``save_artifact`` where the newest message asks for an artifact and it can be saved."""
    if payload.get("tool_choice") == {"type": "none"} or all(tool["name"] != SAVE for tool in payload.get("tools", [])):
        return None
    exchange = exchange_of(payload["messages"])
    want = artifact_request(exchange.message, added(exchange.content, ARTIFACTS))
    if want is None:
        return None
    texts = [*exchange.texts_by("user"), *([] if want.by_preset else [exchange.message])]
    if want.kind == "table" and (copied := table_in_files(texts, exchange.message)):
        return {"title": want.title, "kind": "table", "content": copied}
    sentences = [sentence for text in texts for sentence in sentences_of(text) if not REQUEST.match(sentence)]
    statements = list(dict.fromkeys(sentence for sentence in sentences if not is_question(sentence)))
    questions = list(dict.fromkeys(sentence for sentence in sentences if is_question(sentence)))
    return artifact(want, UserSentences(statements=statements, questions=questions))


def table_in_files(texts: Sequence[str], request: str) -> str:
    """The first table in the newest file that has one, on the page or sheet that is named; empty where there is none."""
    named = PLACE.search(request)
    files = (read for text in reversed(texts) if (read := read_file(text)))
    parts = [part for file, _ in files for part in file.parts]
    wanted = [part.text for part in parts if not named or re.search(rf"\b{named[1]}\b", part.label)]
    return next(filter(None, map(first_table, wanted)), "")


def first_table(text: str) -> str:
    """As Markdown: one that is so already, or else lines of as many words each, as a PDF has them."""
    marked = (list(lines) for begins, lines in groupby(text.splitlines(), lambda line: line.startswith("|")) if begins)
    if found := next((lines for lines in marked if len(lines) > 1), None):
        return "\n".join(found) + "\n"
    columns = groupby(map(COLUMN.findall, text.splitlines()), key=len)
    aligned = (list(rows) for width, rows in columns if width > 1)
    return as_table(next((rows for rows in aligned if len(rows) > 1), []))


def as_table(rows: Sequence[Sequence[str]]) -> str:
    """The first row is the heading; empty where there is none."""
    lines = ["| " + " | ".join(cell.replace("|", "\\|") for cell in row) + " |" for row in rows]
    return "\n".join([lines[0], "|" + " --- |" * len(rows[0]), *lines[1:]]) + "\n" if lines else ""


def artifact_request(message: str, listing: str) -> ArtifactRequest | None:
    """The artifact that a message asks for: a preset by its last lines, a person by a few common wordings.

    One that is listed gets another version, where the person asks for a change.
    """
    title_line, saved_as = TITLE_LINE.search(message), SAVED_AS.search(message)
    if title_line and saved_as:
        kind = saved_as[1] if saved_as[1] in WRITERS else "document"
        headings = STRUCTURE.findall(message)
        title, language = in_short(title_line[1]), saved_as[2] or ""
        return ArtifactRequest(title=title, kind=kind, language=language, by_preset=True, headings=headings)
    sentences = sentences_of(message)
    if change := next((sentence for sentence in sentences if CHANGE_REQUEST.match(sentence)), None):
        return changed(change, listing)
    request = next((match for sentence in sentences if (match := REQUEST.match(sentence))), None)
    if request is None:
        return None
    thing = without_courtesy(request["thing"] or request["named"])
    return new(in_short(thing[:1].upper() + thing[1:]), named_kind(thing) or "document")


def without_courtesy(thing: str) -> str:
    """The thing that is asked for, without "please" and the stops and commas at its end."""
    match = BEFORE_STOPS.match(thing)
    match = BEFORE_COMMAS.match(COURTESY.sub("", match[0] if match else thing))
    return match[0] if match else ""


def changed(request: str, listing: str) -> ArtifactRequest | None:
    """The newest artifact of the kind that is named, or the newest of all."""
    known = [(unquote_name(match[1]), match["kind"]) for match in LISTED.finditer(listing)]
    kind = named_kind(request)
    same = next(((title, of) for title, of in known if of == kind), None) or next(iter(known), None)
    return new(*same) if same else None


def new(title: str, kind: str) -> ArtifactRequest:
    return ArtifactRequest(title=title, kind=kind, language="python" if kind == "code" else "")


def named_kind(thing: str) -> str:
    """By the noun that comes first: "a summary of the page" is no page. Empty where none is named."""
    nouns = [(match.start(), kind) for kind, noun in NOUNS.items() if (match := word(noun).search(thing))]
    return min(nouns)[1] if nouns else ""


def word(pattern: str) -> re.Pattern[str]:
    return re.compile(rf"(?<!-)\b(?:{pattern})\b", re.IGNORECASE)


def artifact(want: ArtifactRequest, sentences: UserSentences) -> dict[str, str]:
    """The input of ``save_artifact``: always the same for the same words."""
    language = {"language": want.language} if want.language else {}
    return {"title": want.title, "kind": want.kind, **language, "content": WRITERS[want.kind](want, sentences)}


def document(want: ArtifactRequest, said: UserSentences) -> str:
    parts = [f"# {want.title}", ORIGIN]
    for heading, sentences in sections(said).items():
        parts += [f"## {heading}", "\n".join(f"- “{sentence}”" for sentence in sentences) or NOTHING_SAID]
    parts += [text for heading in want.headings for text in (f"## {heading}", TO_BE_WRITTEN)]
    return "\n\n".join(parts) + "\n"


def table(want: ArtifactRequest, said: UserSentences) -> str:
    rows = [
        f"| {heading} | {sentence.replace('|', '\\|')} |"
        for heading, sentences in sections(said).items()
        for sentence in sentences
    ]
    return "\n".join([f"| {want.title.replace('|', '/')} | {ORIGIN} |", "| --- | --- |", *rows]) + "\n"


def flowchart(want: ArtifactRequest, sentences: UserSentences) -> str:
    steps = [want.title, *newest(sentences.statements)]
    nodes = [f'    s{i}["{label(step)}"]' for i, step in enumerate(steps)]
    arrows = [f"    s{i} --> s{i + 1}" for i in range(len(steps) - 1)]
    return "\n".join([f"%% {ORIGIN}", "flowchart TD", *nodes, *arrows]) + "\n"


def label(text: str) -> str:
    """Safe between the double quotes of Mermaid, whose entities begin with a hash."""
    return re.sub(r"[^\w\s.,:!?-]", lambda match: f"#{ord(match[0])};", text)


def code(want: ArtifactRequest, sentences: UserSentences) -> str:
    """Comments and nothing that would do a thing."""
    mark = WORDS["comments"].get(want.language.lower(), "#")
    return "".join(f"{mark} {line}".rstrip() + "\n" for line in document(want, sentences).splitlines())


def page(want: ArtifactRequest, said: UserSentences) -> str:
    sentences = [sentence for part in sections(said).values() for sentence in part]
    quotes = "".join(f"<blockquote>{escape(sentence)}</blockquote>\n" for sentence in sentences)
    head = f'<!doctype html>\n<meta charset="utf-8">\n<title>{escape(want.title)}</title>\n'
    return f"{head}<h1>{escape(want.title)}</h1>\n<p>{ORIGIN}</p>\n{quotes}"


def picture(want: ArtifactRequest, sentences: UserSentences) -> str:
    lines = [want.title, ORIGIN, *newest(sentences.statements)]
    texts = "".join(f'<text x="10" y="{20 * i + 25}">{escape(line)}</text>\n' for i, line in enumerate(lines))
    size = f'viewBox="0 0 900 {20 * len(lines) + 25}"'
    return f'<svg xmlns="http://www.w3.org/2000/svg" {size} font-family="sans-serif" font-size="14">\n{texts}</svg>\n'


WRITERS: Mapping[str, Callable[[ArtifactRequest, UserSentences], str]] = {
    "document": document,
    "table": table,
    "mermaid": flowchart,
    "code": code,
    "html": page,
    "svg": picture,
}


def sections(sentences: UserSentences) -> dict[str, Sequence[str]]:
    questions = {"Questions that were asked": newest(sentences.questions)} if sentences.questions else {}
    return {"What was said": newest(sentences.statements), **questions}


def newest(sentences: Sequence[str]) -> Sequence[str]:
    return sentences[-MOST_QUOTES:]


def in_short(title: str) -> str:
    return shortened(one_line(title), LONGEST_TITLE)
