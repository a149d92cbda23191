"""How people say what is worth remembering of them, what they leave open and what is done: ``cue_phrases.toml`` tells it."""

import re

from conversations.runtime.word_tables import pattern_for_later, read_tables

TABLES = read_tables(__file__)


def _cue(text: str) -> re.Pattern[str]:
    return pattern_for_later(text, TABLES["patterns"])


def _named(name: str) -> re.Pattern[str]:
    return _cue(TABLES["patterns"][name])


RELATIVE = _named("RELATIVE")
FIRST_PERSON = _named("FIRST_PERSON")
REMIND = _named("REMIND")
REMEMBER = _named("REMEMBER")
DOUBTFUL = _named("DOUBTFUL")
MATERIAL = _named("MATERIAL")
NO_NAME = _named("NO_NAME")
BRINGS = _named("BRINGS")
BRINGS_FIRST = _named("BRINGS_FIRST")
MOCKERY = _named("MOCKERY")
ANYWAY = _named("ANYWAY")
ABOUT_ME = _named("ABOUT_ME")
PRAISE = _named("PRAISE")
BEFORE = _named("BEFORE")
ASIDE = _named("ASIDE")
OPENERS = _named("OPENERS")
CLAUSE = _named("CLAUSE")
JOINT = _named("JOINT")
CONDITION = _named("CONDITION")
COMPANY = _named("COMPANY")
KINDRED = _named("KINDRED")
COMMENT = _named("COMMENT")
POINTING = _named("POINTING")
PERSONAL = _named("PERSONAL")
PLURAL = _named("PLURAL")
SEVERAL = _named("SEVERAL")
NOUN = _named("NOUN")
TAIL = _named("TAIL")
DONE = _named("DONE")
AT_LAST = _named("AT_LAST")
HAPPENED = _named("HAPPENED")
NOT_DONE = _named("NOT_DONE")
ENDS = _named("ENDS")
REASON = _named("REASON")
CHANGED = _named("CHANGED")
NO_MORE = _named("NO_MORE")
HAN_NAMING = _named("HAN_NAMING")
NEGATED = _named("NEGATED")
REACTION = _named("REACTION")
EMPTY = _named("EMPTY")
PARTICIPLE = _named("PARTICIPLE")
DEED = _named("DEED")
HAN_SMALL = _named("HAN_SMALL")
FACTS = [_cue(text) for text in TABLES["lists"]["FACTS"]]
ANY_FACT = _cue("|".join(f"(?:{text.strip()})" for text in TABLES["lists"]["FACTS"]))
OPENED = [_cue(text) for text in TABLES["lists"]["OPENED"]]
OPENED_WORDS = frozenset(TABLES["words"]["OPENED"].split())
NAMING = frozenset(TABLES["words"]["NAMING"].split())
LABELS = frozenset(TABLES["words"]["LABELS"].split())
FILLERS = frozenset(TABLES["words"]["FILLERS"].split())
