"""Work with an assistant over months: requests that mention facts in passing, and long answers that repeat their words."""

from collections import defaultdict
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from datetime import UTC, date, datetime, timedelta
from random import Random
from typing import Any

from tests.benchmarks.talk.drafts import Draft, DraftTurn
from tests.benchmarks.talk.shapes import Conversation
from tests.benchmarks.talk.wordings import (
    Once,
    Topic,
    capitalised,
    day_in_words,
    relative,
    sloppy,
    table,
    topics,
    value_of,
)

START = datetime(2025, 1, 7, 8, tzinfo=UTC)
NAMED = 0.55
"""How often somebody who speaks of what he does calls it by its name."""
WORDIER = 0.4
"""How often a fact comes with a clause that has little to do with it."""
PASTED = 0.12
AT_LARGE = 5
"""Facts that a question about all of an undertaking asks for, at least."""
LATER = timedelta(days=2)
"""The least between a fact and what supersedes or contradicts it."""
CODE = """```{language}
def {slug}({x}, limit={n}):
    rows = [row for row in {x} if row.{y} is not None]
    if len(rows) > limit:
        raise ValueError("too many rows in {x}")
    return sorted(rows, key=lambda row: row.{y})
```"""
TABLES = ("orders", "users", "entries", "readings", "invoices", "tickets", "events", "records", "sessions", "payments")
COLUMNS = ("created_at", "amount", "owner", "status", "email", "weight", "position", "total", "name", "price")


@dataclass
class Project:
    """One undertaking in a conversation, and what was said about it so far."""

    values: dict[str, Any]
    name: str
    topics: list[Topic]
    places: list[DraftTurn] = field(default_factory=list)

    def fill(self, sentence: str, **more: str) -> str:
        """With its full name, as a question has it."""
        return capitalised(sentence.replace("{p}", self.name).format(**more))

    def mention(self, draw: Random, sentence: str, **more: str) -> str:
        """With its name, or as one speaks of it once it is clear what is meant."""
        called = self.name if draw.random() < NAMED else draw.choice(self.values["short"])
        return capitalised(sentence.replace("{p}", called).format(**more))


@dataclass
class Session:
    """Turns within an hour or two about one thing."""

    project: Project
    topic: Topic
    turns: list[DraftTurn] = field(default_factory=list)


@dataclass
class Talk:
    draw: Random
    draft: Draft
    projects: list[Project]
    sessions: list[Session]
    once: Once
    labels: dict[int, tuple[str, str]] = field(default_factory=dict)
    """What the sentence that is said in a turn is about, and its value."""

    def free(self, project: Project | None = None) -> list[tuple[Session, DraftTurn]]:
        """Requests, in order, that nothing is said in yet."""
        return [
            (session, turn)
            for session in self.sessions
            if project is None or session.project is project
            for turn in session.turns
            if turn.role == "user" and not turn.raw
        ]

    def place(self, project: Project | None, after: DraftTurn | None = None) -> tuple[Session, DraftTurn] | None:
        free = self.free(project)
        if after is not None:
            free = [(session, turn) for session, turn in free if turn.at > after.at + LATER]
        return self.draw.choice(free) if free else None

    def say(
        self,
        project: Project | None,
        sentence: str,
        after: DraftTurn | None = None,
        label: tuple[str, str] | None = None,
    ) -> DraftTurn | None:
        """Somewhere, if there is a place left for it."""
        place = self.place(project, after)
        if place is None:
            return None
        session, turn = place
        turn.raw = self.wordier(session.topic, sentence)
        if label is not None:
            self.labels[id(turn)] = label
        if project is not None:
            project.places.append(turn)
        return turn

    def wordier(self, topic: Topic, sentence: str) -> str:
        if self.draw.random() >= WORDIER or not sentence.endswith("."):
            return sentence
        return sentence.removesuffix(".") + topic.clause(self.draw, self.draw.choice(table("prose")["tails"])) + "."


def conversation(
    seed: int, *, profile: str, turns: int, projects: int, of: slice = slice(None), at_large: bool = False
) -> Conversation:
    """``of``: of which of the undertakings. ``at_large``: questions about all that was told of an undertaking as well."""
    draw = Random(f"{profile} {seed}")
    draft = Draft(f"{profile}-{seed}", profile, "en")
    once = Once(draw)
    chosen = [_project(draw, once, values) for values in draw.sample(table("projects")["projects"][of], projects)]
    talk = Talk(draw, draft, chosen, list(_sessions(draw, chosen, turns)), once)
    draft.turns = [turn for session in talk.sessions for turn in session.turns]
    for project in chosen:
        for part in (_slots, _lists, _events, _contradictions, _month):
            part(talk, project)
    _preferences(talk)
    _contradictions_at_large(talk)
    if at_large:
        for project in chosen:
            _at_large(talk, project)
    _write(talk)
    draw.shuffle(draft.questions)
    return draft.finished()


def _project(draw: Random, once: Once, values: dict[str, Any]) -> Project:
    name = draw.choice(values["called"]).format(coin=once.value("coin"), city=once.value("city"))
    return Project(values, name, [topics()[topic] for topic in values["topics"]])


def _sessions(draw: Random, projects: Sequence[Project], turns: int) -> Iterator[Session]:
    at = START + timedelta(days=draw.randrange(60))
    left = turns
    while left > 0:
        project = draw.choice(projects)
        session = Session(project, draw.choice(project.topics if draw.random() < 0.8 else list(topics().values())))
        for _ in range(min(left // 2, draw.randint(2, 9))):
            session.turns += [DraftTurn("user", at), DraftTurn("assistant", at + timedelta(seconds=20))]
            at += timedelta(minutes=draw.randint(2, 14))
        left -= len(session.turns)
        yield session
        at += timedelta(hours=draw.randint(5, 90 if turns < 500 else 40))


def _slots(talk: Talk, project: Project) -> None:
    draw = talk.draw
    people: list[tuple[DraftTurn, str, str]] = []
    for slot in project.values["slots"]:
        value = talk.once.value(slot["values"])
        sentence = project.mention(draw, draw.choice(slot["say"]), v=value)
        turn = talk.say(project, sentence, label=(slot["label"], value))
        if turn is None:
            continue
        newest = None
        if "new" in slot and draw.random() < 0.75:
            newer = talk.once.value(slot["values"])
            sentence = project.mention(draw, slot["new"][0], v=newer)
            newest = talk.say(project, sentence, after=turn, label=(slot["label"], newer))
        if newest is None:
            _ask_slot(talk, project, slot, turn)
        else:
            _ask_changed(talk, project, slot, turn, newest)
        if "who" in slot:
            people.append((turn, value, slot["who"].replace("{p}", project.name)))
    for turn, person, who in people:
        _person(talk, project, turn, person, who)


def _ask_slot(talk: Talk, project: Project, slot: dict[str, Any], turn: DraftTurn) -> None:
    draw = talk.draw
    question = project.fill(draw.choice(slot["ask"]))
    elsewhere = draw.random() < 0.3
    talk.draft.ask("cross-thread" if elsewhere else "single fact", question, turn, elsewhere=elsewhere)
    talk.draft.ask("synonym", project.fill(draw.choice(slot["synonym"])), turn)
    if draw.random() < 0.3:
        talk.draft.ask("sloppy wording", sloppy(draw, project.fill(draw.choice(slot["ask"])), typos=0.25), turn)


def _ask_changed(talk: Talk, project: Project, slot: dict[str, Any], turn: DraftTurn, newest: DraftTurn) -> None:
    draw = talk.draw
    talk.draft.ask("update", project.fill(draw.choice([*slot["ask"], *slot["synonym"]])), newest)
    if draw.random() < 0.5:
        talk.draft.ask("update, before", project.fill(slot["was"][0]), turn)
    else:
        question = project.fill(f"How has {slot['label']} of {{p}} changed over time?")
        talk.draft.ask("update, both", question, turn, newest)


def _person(talk: Talk, project: Project, turn: DraftTurn, person: str, who: str) -> None:
    """Things about somebody, told apart from what he has to do with the project, and about others of the same name."""
    draw, prose, first = talk.draw, table("prose"), person.split()[0]
    places = []
    for fact in draw.sample(prose["facts_about"], 2):
        say, ask, other = fact.split("|")
        clause = draw.choice([say, other]).format(**_about(talk, fact))
        place = talk.say(None, draw.choice(prose["about"]).format(n=first, fact=clause))
        if place is None:
            continue
        places.append(place)
        talk.draft.ask("multi-hop", capitalised(ask.format(who=f"the person {who}")), turn, place)
        talk.draft.ask("single fact", ask.format(who=first), place)
        if draw.random() < 0.6:
            clause = draw.choice([say, other]).format(**_about(talk, fact))
            talk.say(None, capitalised(draw.choice(prose["gossip"]).format(n=first, p=project.name, fact=clause)))
    if len(places) > 1:
        talk.draft.ask("all of", f"What do you know about {person}?", turn, *places)


def _about(talk: Talk, fact: str) -> dict[str, str]:
    kinds = ("city", "odd", "company", "instrument", "product")
    return {kind: talk.once.value(kind) for kind in kinds if f"{{{kind}}}" in fact}


def _lists(talk: Talk, project: Project) -> None:
    draw = talk.draw
    for entry in project.values["lists"]:
        values = draw.sample(entry["values"], draw.randint(3, min(6, len(entry["values"]))))
        places = [talk.say(project, project.mention(draw, draw.choice(entry["say"]), v=value)) for value in values]
        turns = [place for place in places if place]
        if len(turns) > 2:
            talk.draft.ask("all of", project.fill(draw.choice(entry["ask"])), *turns)


def _events(talk: Talk, project: Project) -> None:
    draw = talk.draw
    events: list[tuple[DraftTurn, str, date]] = []
    for event in draw.sample(project.values["events"], len(project.values["events"])):
        did, do = event.split("|")
        place = talk.place(project)
        if place is None:
            break
        session, turn = place
        phrase, day = relative(draw, turn.at)
        turn.raw = talk.wordier(session.topic, project.mention(draw, f"{phrase} I {did}."))
        project.places.append(turn)
        do = do.replace("{p}", project.name)
        events.append((turn, do, day))
        if draw.random() < 0.6:
            talk.draft.ask("temporal", f"When did I {do}?", turn)
        else:
            talk.draft.ask("temporal, by date", f"What did I do for {project.name} on {day_in_words(day)}?", turn)
    _order(talk, events)


def _order(talk: Talk, events: Sequence[tuple[DraftTurn, str, date]]) -> None:
    if len(events) < 4:
        return
    (first, do, day), (second, do2, day2), (third, do3, _), (fourth, do4, _), *_ = events
    if day != day2:
        before = f"Did I {do} before or after I {do2}?"
        between = f"How many days lay between the day that I {do} and the day that I {do2}?"
        talk.draft.ask("order", talk.draw.choice([before, between]), first, second)
    talk.draft.ask("order", f"In which order did I do this: {do3}, {do}, {do4}?", first, third, fourth)


def _contradictions(talk: Talk, project: Project) -> None:
    for contradiction in project.values["contradictions"]:
        claim, denial, ask = (project.fill(part) for part in contradiction.split("|"))
        _contradict(talk, project, claim, denial, ask)


def _contradictions_at_large(talk: Talk) -> None:
    for contradiction in talk.draw.sample(table("prose")["more_contradictions"], len(talk.projects)):
        claim, denial, ask = contradiction.split("|")
        _contradict(talk, None, claim, denial, ask)


def _contradict(talk: Talk, project: Project | None, claim: str, denial: str, ask: str) -> None:
    first = talk.say(project, claim)
    second = first and talk.say(project, denial, after=first)
    if first and second:
        talk.draft.ask("contradiction", ask, first, second)


def _month(talk: Talk, project: Project) -> None:
    """All that was told of a project within a month, where that is not too much."""
    by_month = defaultdict(list)
    for place in project.places:
        by_month[f"{place.at:%B %Y}"].append(place)
    few = [(month, places) for month, places in by_month.items() if 2 <= len(places) <= 6]
    if few:
        month, places = talk.draw.choice(few)
        talk.draft.ask("all of a month", f"What did I tell you about {project.name} in {month}?", *places)


def _at_large(talk: Talk, project: Project) -> None:
    """What takes many turns to answer: how an undertaking went, and what came up when."""
    places = sorted(project.places, key=lambda place: place.at)
    if len(places) < AT_LARGE:
        return
    for wording in table("prose")["at_large"]:
        talk.draft.ask("summary", project.fill(wording), *places)
    labelled = [place for place in places if id(place) in talk.labels]
    for wording in table("prose")["sequence"]:
        if len(labelled) >= AT_LARGE:
            talk.draft.ask("sequence", project.fill(wording), *labelled[:AT_LARGE])
    first, second, third = sorted(talk.draw.sample(range(len(labelled)), 3)) if len(labelled) >= 3 else (0, 0, 0)
    if third:
        about = [talk.labels[id(labelled[n])][0] for n in (first, second, third)]
        question = f"Sum up what we settled for {{p}} as to {about[0]}, {about[1]} and {about[2]}."
        talk.draft.ask("summary of three", project.fill(question), *(labelled[n] for n in (first, second, third)))


def _preferences(talk: Talk) -> None:
    draw = talk.draw
    nick = talk.once.value("coin")
    for say, *ask in draw.sample(table("prose")["preferences"], min(8, 3 + len(talk.projects))):
        place = talk.say(None, say.format(nick=nick))
        if place is not None:
            talk.draft.ask("preference", draw.choice(ask), place, elsewhere=draw.random() < 0.3)


def _write(talk: Talk) -> None:
    draw, prose = talk.draw, table("prose")
    picks: set[tuple[int, str]] = set()
    for session in talk.sessions:
        for number in range(0, len(session.turns), 2):
            request, answer = session.turns[number : number + 2]
            ends = number > 0 and number + 2 == len(session.turns)
            if ends and not request.raw and draw.random() < 0.4:
                request.content = draw.choice(prose["social"])
                answer.content = session.topic.fill(draw, draw.choice(prose["social_answers"]))
                continue
            request.content = _request(talk, session, request, first=number == 0)
            answer.content = _answer(talk, session, request, answer, picks)


def _request(talk: Talk, session: Session, turn: DraftTurn, *, first: bool) -> str:
    draw, prose, topic = talk.draw, table("prose"), session.topic
    frames = draw.sample(prose["request_context"], draw.choice([0, 0, 1, 1, 2, 3, 5]))
    frames += draw.sample(prose["details"], draw.choice([0, 0, 0, 1, 1, 2]))
    draw.shuffle(frames)
    sentences = [topic.fill(draw, frame) for frame in frames]
    if draw.random() < 0.15:
        slot = draw.choice(session.project.values["slots"])
        wish = topic.fill(draw, draw.choice(prose["mentions"]), label=slot["label"], p=session.project.name)
    else:
        wish = topic.fill(draw, draw.choice(prose["requests"] if first or draw.random() < 0.5 else prose["follow_ups"]))
    sentences.append(wish)
    if turn.raw:
        sentences.insert(draw.randint(0, len(sentences)), turn.raw)
    if first and draw.random() < 0.6:
        sentences.insert(0, session.project.fill(draw.choice(prose["returns"])))
    text = " ".join(sentences)
    return text + "\n\n" + _pasted(talk, session, turn) if draw.random() < PASTED else text


def _pasted(talk: Talk, session: Session, turn: DraftTurn) -> str:
    """Code, an article or a mail; a question may rest on a sentence of it, where nothing else is said in the turn."""
    draw, prose, topic = talk.draw, table("prose"), session.topic
    if session.project.values.get("code") and draw.random() < 0.5:
        return _code(draw)
    is_mail = draw.random() < 0.4
    thing, other = draw.sample(topic.things, 2)
    say, ask = draw.choice(prose["mails" if is_mail else "pasted"]).split("|")
    sentence = topic.fill(draw, say, t=thing, u=other)
    if not turn.raw and draw.random() < 0.5:
        turn.raw = sentence
        talk.draft.ask("pasted", topic.fill(draw, ask, t=thing, u=other), turn)
    if not is_mail:
        return f"{article(draw, topic)}\n{sentence}"
    lines = [sentence, *(topic.fill(draw, line) for line in draw.sample(prose["mail_lines"], 3))]
    return "\n".join([*lines, value_of(draw, "person")])


def article(draw: Random, topic: Topic) -> str:
    """What somebody else has written, as it is pasted."""
    sentences = draw.sample(table("prose")["articles"], 4)
    lines = [topic.fill(draw, sentence) for sentence in sentences]
    return "\n".join([f"“{value_of(draw, 'title')}: {topic.name}”", *lines])


def _code(draw: Random) -> str:
    x, y = draw.choice(TABLES), draw.choice(COLUMNS)
    slug = f"{draw.choice(['load', 'sort', 'check', 'merge'])}_{x}"
    return CODE.format(language="python", slug=slug, x=x, y=y, n=draw.randint(2, 90) * 10)


def _answer(talk: Talk, session: Session, request: DraftTurn, answer: DraftTurn, picks: set[tuple[int, str]]) -> str:
    """Long, in sections, about the words of the request, of which it repeats some."""
    draw, prose, topic = talk.draw, table("prose"), session.topic
    label, value = talk.labels.get(id(request), ("", ""))
    echoed = [thing for thing in topic.things if thing in request.content] or [topic.name]
    wanted = min(3_500, max(500, int(draw.lognormvariate(7.4, 0.5))))
    unused = {kind: draw.sample(prose[kind], len(prose[kind])) for kind in ("answer_sentences", "answer_lists")}

    def sentence(kind: str) -> str:
        frames = unused.get(kind)
        frame = frames.pop() if frames else draw.choice(prose[kind])
        thing = draw.choice(echoed + draw.sample(topic.things, 2))
        return topic.fill(draw, frame, e=draw.choice(echoed), t=thing)

    opening = sentence("answer_openings")
    if label:
        echo = draw.choice(prose["echoes"])
        opening += " " + topic.fill(draw, echo, label=label, p=session.project.name, v=value)
    blocks = [opening]
    while sum(map(len, blocks)) < wanted:
        if draw.random() < 0.8:
            blocks.append("## " + sentence("answer_headings"))
        if draw.random() < 0.6:
            blocks.append(" ".join(sentence("answer_sentences") for _ in range(draw.randint(2, 6))))
        elif session.project.values.get("code") and draw.random() < 0.4:
            blocks.append(_code(draw))
        else:
            is_numbered = draw.random() < 0.5
            lines = [sentence("answer_lists") for _ in range(draw.randint(2, 6))]
            blocks.append("\n".join(f"{n}. {line}" if is_numbered else f"- {line}" for n, line in enumerate(lines, 1)))
    blocks.append(sentence("answer_closings"))
    if draw.random() < 0.14:
        _pick(talk, topic, answer, blocks, picks)
    return "\n\n".join(blocks)


def _pick(talk: Talk, topic: Topic, answer: DraftTurn, blocks: list[str], picks: set[tuple[int, str]]) -> None:
    """One recommendation of its own kind among the general talk, which a question asks for later."""
    draw, kinds = talk.draw, table("prose")["picks"]
    number, thing = draw.randrange(len(kinds)), draw.choice(topic.things)
    if (number, thing) in picks:
        return
    picks.add((number, thing))
    say, *ask = kinds[number]
    x, y, z = draw.sample(topic.things, 3)
    n, m = str(draw.randint(2, 9)), str(draw.randint(10, 30))
    answer.raw = topic.fill(draw, say, t=thing, x=x, y=y, z=z, n=n, m=m)
    prose = [n for n, block in enumerate(blocks) if n and not block.startswith("##") and "```" not in block]
    place = draw.choice(prose)
    is_list = blocks[place].startswith(("- ", "1. "))
    blocks[place] += f"\n\n{answer.raw}" if is_list else f" {answer.raw}"
    elsewhere = draw.random() < 0.2
    category = "cross-thread" if elsewhere else "assistant said"
    talk.draft.ask(category, draw.choice(ask).format(t=thing), answer, elsewhere=elsewhere)
