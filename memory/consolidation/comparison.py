"""What two facts say of each other by their words: that they are the same, or that the later one ends the earlier. Pure."""

import re
from dataclasses import dataclass
from functools import lru_cache

from memory.consolidation.endings import ENOUGH, names, naming
from memory.consolidation.sentences import LONGEST_SENTENCE
from memory.language import cue_phrases, first_person
from memory.language.fact_kinds import DISLIKES, LIKES, Claim, claims_of
from memory.language.words import SMALL_ANYWHERE, speaker, stems

SIMILAR = 0.8
"""Of two facts from the same turn: so much in common makes them one, told in other words."""

type Key = tuple[frozenset[str], bool]


@dataclass(frozen=True, kw_only=True, slots=True)
class Statement:
    """What a fact says, as far as its words tell it. ``object`` are the words that it is about, ``is_positive`` is whether the
    person has that or likes it, ``feels`` whether it tells of liking."""

    text: str
    speaker: str
    key: Key
    claims: tuple[Claim, ...]
    object: frozenset[str]
    is_positive: bool
    feels: bool
    says_ended: bool


@lru_cache(maxsize=8_192)
def statement_of(text: str) -> Statement:
    """What a fact says, as far as facts are compared by it."""
    name, body = speaker(text[:LONGEST_SENTENCE])
    body = body.replace("’", "'")
    disliked, liked = DISLIKES.search(body), LIKES.search(body)
    rest = DISLIKES.sub(" ", body)
    denies = bool(cue_phrases.NEGATED.search(rest))
    about = LIKES.sub(" ", rest)
    for beside in (cue_phrases.NO_MORE, cue_phrases.NEGATED, cue_phrases.CHANGED):
        about = beside.sub(" ", about)
    about = cue_phrases.HAN_NAMING.sub("", about)
    return Statement(
        text=text,
        speaker=name,
        key=key_of(text),
        claims=claims_of(body),
        object=frozenset(stems(about)) - cue_phrases.NAMING,
        is_positive=denies if disliked else not denies,
        feels=bool(disliked or liked),
        says_ended=bool(cue_phrases.ENDS.search(body)),
    )


def ends(later: Statement, earlier: Statement) -> bool:
    """Whether what the later one says ends what the earlier one says."""
    if later.speaker != earlier.speaker:
        return False
    return (
        any(_claim_ends(claim, later, known, earlier) for claim in later.claims for known in earlier.claims)
        or _is_of_the_same(later, earlier)
        or _denies(later, earlier)
        or refines(later.text, earlier.text)
    )


def _claim_ends(claim: Claim, later: Statement, known: Claim, earlier: Statement) -> bool:
    """By what both say of one kind: one of a time takes the place of the other, or it ended, or is so again."""
    if claim.kind is not known.kind:
        return False
    if not (claim.ends or known.ends):
        return claim.kind.is_single and claim.aspect == known.aspect
    if claim.ends and known.ends:
        return False
    ended, held = (claim, earlier) if claim.ends else (known, later)
    return not ended.aspect or _holds(held, ended)


def _holds(statement: Statement, ended: Claim) -> bool:
    """Whether a statement is of what a claim says to have ended, and not of its end too: "from Lisbon to Porto"."""
    if any(claim.ends and claim.kind is ended.kind and claim.aspect == ended.aspect for claim in statement.claims):
        return False
    if first_person.HAN.search(ended.aspect):
        return ended.aspect in statement.text
    return naming(statement.text, ended.aspect) >= ENOUGH and (ended.kind.is_single or _names_head(statement, ended))


def _names_head(statement: Statement, ended: Claim) -> bool:
    """Whether a statement names the thing itself that ended, not only what tells it apart: a bed is no dog."""
    words = names(ended.aspect)
    head = words[:1] if {*first_person.written_in(statement.text)} <= first_person.ROMANCE else words[-1:]
    return naming(statement.text, " ".join(head)) > 0


def _is_of_the_same(later: Statement, earlier: Statement) -> bool:
    """Whether they tell how much the person likes the same thing; or one that it is so, and one that it is not."""
    if not later.object or later.object != earlier.object or later.feels != earlier.feels:
        return False
    return later.feels or later.is_positive != earlier.is_positive


def _denies(later: Statement, earlier: Statement) -> bool:
    """Whether it says that it is no longer so, with all words of what is no fact of a kind."""
    if not later.says_ended or earlier.claims or earlier.key[1] or not earlier.object:
        return False
    return earlier.object <= later.object


def key_of(text: str) -> Key:
    """The words of a fact that count, with what it says to have ended, and whether it denies. How a name is told does not
    count."""
    text = text[:LONGEST_SENTENCE].replace("’", "'")
    words = frozenset(stems(cue_phrases.HAN_NAMING.sub("", text)))
    ended = {f"-{claim.aspect}" for claim in claims_of(text) if claim.ends and claim.aspect}
    return (words - cue_phrases.NAMING or words) | ended, bool(cue_phrases.NEGATED.search(text))


def slots_of(text: str) -> frozenset[tuple[str, str, str]]:
    """What a person has one of at a time, as far as the text tells it; with whom a transcript names."""
    name, body = speaker(text[:LONGEST_SENTENCE])
    held = (claim for claim in claims_of(body.replace("’", "'")) if claim.kind.is_single and not claim.ends)
    return frozenset((name, claim.kind.name, claim.aspect) for claim in held)


def retold(key: Key, known: Key) -> bool:
    """Whether it says the same as what is known, or less, in other words. To be asked of what rests on the same turn."""
    (words, denies), (others, other_denies) = key, known
    if denies != other_denies or not (words and others):
        return False
    return words <= others or len(words & others) / len(words | others) >= SIMILAR


def refines(text: str, other: str) -> bool:
    """Whether it is the other statement and goes on: "I play the cello in an orchestra"."""
    beginning = other.casefold().rstrip(".!。 ")
    rest = text.casefold().removeprefix(beginning)
    if not beginning or rest == text.casefold() or not (word := re.match(r"[\s,，]+(\w+)", rest)):
        return False
    return rest[0] in ",，" or word[1] in SMALL_ANYWHERE


def beginning_of(text: str) -> str:
    """Under which a text and what goes on where it ends are kept together."""
    return " ".join(text.casefold().split()[:2]).rstrip(".!。,")
