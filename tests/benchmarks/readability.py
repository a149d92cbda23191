"""Of what the rules write, how much doesn't read as a sentence: made talk in seven languages, and talks
whose facts are known."""

import re
import uuid
from collections import Counter
from collections.abc import Iterator, Sequence
from datetime import timedelta
from itertools import batched

from conversations.threads.titles import title_from
from memory.consolidation.findings import SourceTurn
from memory.consolidation.rule_extraction import extract
from memory.consolidation.statements import leans
from memory.language import cue_phrases
from memory.language.readability import faults_of
from tests.benchmarks.fact_corpus import START, persons
from tests.benchmarks.talk.corpus import PROFILES

KINDS = ("summary", "moment", "note", "topic", "title")
PART = 24
"""Turns of a talk that are summed up together."""
DAY = re.compile(r" \(\d{4}-\d\d-\d\d\)$")
SPEAKER = re.compile(r"^[^:]{1,40}: ")


def main() -> None:
    written = list(texts())
    print("\n== what the rules write and doesn't read as a sentence, or names nothing")
    for kind in KINDS:
        some = [text for of, text in written if of == kind]
        faults = [faults_in(kind, text) for text in some]
        counts = Counter(fault for each in faults for fault in each)
        told = ", ".join(f"{name} {count}" for name, count in counts.most_common())
        print(f"  {kind:<10}{len(some):6}{100 * sum(map(bool, faults)) / len(some):7.1f} %   {told}")


def texts() -> Iterator[tuple[str, str]]:
    for turns in parts():
        findings = extract(turns, last=turns[-1].position)
        yield from (("summary", line) for line in findings.summary.splitlines())
        yield from (("moment", moment) for moment in findings.moments)
        yield from (("note", fact.text) for fact in findings.facts)
        yield from (("topic", topic.title) for topic in findings.opened)
        yield from (("title", title_from(turn.text)) for turn in turns if turn.is_persons)


def parts() -> Iterator[list[SourceTurn]]:
    first_of_each = [*(PROFILES[name][0] for name in ("assistant_short", "messenger")), *PROFILES["companion"]]
    for make in first_of_each:
        for some in batched(make().messages, PART):
            yield _turns([(each.role, each.content) for each in some])
    for talk in persons():
        for _, conversation in talk.conversations:
            yield _turns([(each.role, each.text) for each in conversation])


def _turns(said: Sequence[tuple[str, str]]) -> list[SourceTurn]:
    return [
        SourceTurn(id=uuid.uuid4(), position=n, role=role, text=text, at=START + timedelta(minutes=n))
        for n, (role, text) in enumerate(said, 1)
    ]


def faults_in(kind: str, text: str) -> set[str]:
    """Beside the signs of the text: a line that says nothing, and what leans on a sentence that is not there."""
    body = SPEAKER.sub("", text) if kind == "summary" else DAY.sub("", text)
    faults: set[str] = {*faults_of(body, is_title=kind == "title")}
    if kind == "summary" and cue_phrases.EMPTY.fullmatch(body):
        faults.add("says nothing")
    if kind in ("moment", "note") and leans(body):
        faults.add("leans")
    return faults
