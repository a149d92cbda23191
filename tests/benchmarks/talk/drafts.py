"""A conversation while it is being written: turns that still have no place, and questions that point at them."""

from collections.abc import Sequence
from dataclasses import dataclass, field
from datetime import datetime

from tests.benchmarks.talk.shapes import Conversation, Message, Question, flattened


@dataclass(eq=False)
class DraftTurn:
    role: str
    at: datetime
    content: str = ""
    raw: str = ""


@dataclass(kw_only=True)
class DraftQuestion:
    question: str
    category: str
    evidence: Sequence[DraftTurn]
    elsewhere: bool = False


@dataclass
class Draft:
    id: str
    profile: str
    language: str
    turns: list[DraftTurn] = field(default_factory=list)
    questions: list[DraftQuestion] = field(default_factory=list)

    def ask(self, category: str, question: str, *evidence: DraftTurn, elsewhere: bool = False) -> None:
        unique = list(dict.fromkeys(evidence))
        self.questions.append(DraftQuestion(question=question, category=category, evidence=unique, elsewhere=elsewhere))

    def finished(self) -> Conversation:
        """Without questions that rest on what was said in the same words elsewhere as well."""
        places = {id(turn): place for place, turn in enumerate(self.turns)}
        texts = [flattened(turn.content) for turn in self.turns]
        evidence = {id(turn): flattened(turn.raw) for question in self.questions for turn in question.evidence}
        unique = {turn for turn, raw in evidence.items() if sum(raw in text for text in texts) == 1}
        return Conversation(
            id=self.id,
            profile=self.profile,
            language=self.language,
            messages=[
                Message(role=turn.role, content=turn.content, created_at=turn.at, raw=turn.raw or turn.content)
                for turn in self.turns
            ],
            questions=[
                Question(
                    question=question.question,
                    category=question.category,
                    evidence=sorted(places[id(turn)] for turn in question.evidence),
                    elsewhere=question.elsewhere,
                )
                for question in self.questions
                if unique.issuperset(map(id, question.evidence))
            ],
        )
