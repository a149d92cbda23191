"""Work with an assistant over months: requests that mention facts in passing, and long answers that repeat their words."""

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta
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
CODE = """```{language}
def {slug}({x}, limit={n}):
    rows = [row for row in {x} if row.{y} is not None]
    if len(rows) > limit:
        raise ValueError("too many rows in {x}")
    return sorted(rows, key=lambda row: row.{y})
```"""
NAMES = [
    "orders",
    "users",
    "entries",
    "readings",
    "invoices",
    "tickets",
    "events",
    "records",
    "sessions",
    "payments",
    "measurements",
]
FIELDS = ["created_at", "amount", "owner", "status", "email", "weight", "position", "total", "name", "price"]


@dataclass
class Project:
    """One undertaking in a conversation, with the sentences about it that still have to be said."""

    values: dict[str, Any]
    name: str
    topics: list[Topic]

    def fill(self, sentence: str, **more: str) -> str:
        return capitalised(
            sentence.replace("{p}", self.name).format(**more) if more else sentence.replace("{p}", self.name)
        )


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
    planted: dict[int, str] = field(default_factory=dict)
    labels: dict[int, tuple[str, str]] = field(default_factory=dict)

    def requests(self, project: Project | None = None) -> list[DraftTurn]:
        """Requests, in order, that nothing is said in yet."""
        return [
            turn
            for session in self.sessions
            if project is None or session.project is project
            for turn in session.turns
            if turn.role == "user" and id(turn) not in self.planted
        ]

    def plant(self, turn: DraftTurn, sentence: str, label: str = "", value: str = "") -> DraftTurn:
        turn.raw = sentence
        self.planted[id(turn)] = sentence
        self.labels[id(turn)] = (label, value)
        return turn

    def somewhere(
        self, project: Project | None, sentence: str, after: DraftTurn | None = None, **more: str
    ) -> DraftTurn | None:
        free = self.requests(project)
        if after is not None:
            free = [turn for turn in free if turn.at > after.at + timedelta(days=2)]
        return self.plant(self.draw.choice(free), sentence, **more) if free else None


def conversation(seed: int, *, profile: str, turns: int, projects: int) -> Conversation:
    draw = Random(f"{profile} {seed}")
    draft = Draft(f"{profile}-{seed}", profile, "en")
    once = Once(draw)
    chosen = [_project(draw, once, values) for values in draw.sample(table("projects")["projects"], projects)]
    talk = Talk(draw, draft, chosen, list(_sessions(draw, chosen, turns)), once)
    draft.turns = [turn for session in talk.sessions for turn in session.turns]
    for project in chosen:
        for part in (_slots, _lists, _events, _contradictions):
            part(talk, project)
    _preferences(talk)
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
        for _ in range(min(left, 2 * draw.randint(2, 9)) // 2 or 1):
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
        sentence = project.fill(draw.choice(slot["say"]), v=value)
        turn = talk.somewhere(project, sentence, label=slot["label"], value=value)
        if turn is None:
            continue
        newest = None
        if "new" in slot and draw.random() < 0.75:
            newer = talk.once.value(slot["values"])
            newest = talk.somewhere(
                project, project.fill(slot["new"][0], v=newer), after=turn, label=slot["label"], value=newer
            )
        if newest is not None:
            talk.draft.ask("update", project.fill(draw.choice(slot["ask"])), newest)
            if draw.random() < 0.5:
                talk.draft.ask("update, before", project.fill(slot["was"][0]), turn)
            else:
                talk.draft.ask(
                    "update, both", project.fill(f"How has {slot['label']} of {{p}} changed over time?"), turn, newest
                )
            continue
        _ask_slot(talk, project, slot, turn)
        if "who" in slot:
            people.append((turn, value, slot["who"].replace("{p}", project.name)))
    for turn, person, who in people:
        _hop(talk, project, turn, person, who)


def _ask_slot(talk: Talk, project: Project, slot: dict[str, Any], turn: DraftTurn) -> None:
    draw = talk.draw
    question = project.fill(draw.choice(slot["ask"]))
    talk.draft.ask("single fact", question, turn)
    talk.draft.ask("synonym", project.fill(draw.choice(slot["synonym"])), turn)
    if draw.random() < 0.3:
        talk.draft.ask("sloppy wording", sloppy(draw, project.fill(draw.choice(slot["ask"])), typos=0.25), turn)
    if draw.random() < 0.3:
        talk.draft.ask("cross-thread", question, turn, elsewhere=True)


def _hop(talk: Talk, project: Project, turn: DraftTurn, person: str, who: str) -> None:
    """Something about somebody, told apart from what he has to do with the project, and about others of the same name."""
    draw, prose = talk.draw, table("prose")
    for fact in draw.sample(prose["facts_about"], 2):
        say, ask, other = fact.split("|")
        kinds = {"city": "city", "odd": "odd", "company": "company", "instrument": "instrument", "product": "product"}
        values = {name: talk.once.value(kind) for name, kind in kinds.items() if f"{{{name}}}" in fact}
        first = person.split()[0]
        place = talk.somewhere(None, f"{first} {draw.choice([say, other]).format(**values)}, as I learnt over lunch.")
        if place is None:
            continue
        talk.draft.ask("multi-hop", capitalised(ask.format(who=f"the person {who}")), turn, place)
        talk.draft.ask("single fact", ask.format(who=first), place)
        if draw.random() < 0.6:
            values = {name: talk.once.value(kind) for name, kind in kinds.items() if f"{{{name}}}" in fact}
            gossip = draw.choice(prose["gossip"]).format(
                n=first, p=project.name, fact=draw.choice([say, other]).format(**values)
            )
            talk.somewhere(None, capitalised(gossip))


def _lists(talk: Talk, project: Project) -> None:
    draw = talk.draw
    for entry in project.values["lists"]:
        places = []
        for value in draw.sample(entry["values"], draw.randint(3, min(6, len(entry["values"])))):
            place = talk.somewhere(project, project.fill(draw.choice(entry["say"]), v=value))
            if place is not None:
                places.append(place)
        if len(places) > 2:
            talk.draft.ask("all of", project.fill(draw.choice(entry["ask"])), *places)


def _events(talk: Talk, project: Project) -> None:
    draw = talk.draw
    told: list[tuple[DraftTurn, str, Any]] = []
    for event in draw.sample(project.values["events"], len(project.values["events"])):
        did, do = (project.fill(part) for part in event.split("|"))
        did, do = did[0].lower() + did[1:], do[0].lower() + do[1:]
        free = talk.requests(project)
        if not free:
            break
        turn = draw.choice(free)
        phrase, day = relative(draw, turn.at)
        talk.plant(turn, f"{phrase} I {did}.")
        told.append((turn, do, day))
        if draw.random() < 0.6:
            talk.draft.ask("temporal", f"When did I {do}?", turn)
        else:
            talk.draft.ask("temporal, by date", f"What did I do for {project.name} on {day_in_words(day)}?", turn)
    if len(told) >= 4:
        (first, do, day), (second, do2, day2), (third, do3, _), *_ = told
        if day != day2:
            talk.draft.ask(
                "order",
                f"Did I {do} before or after I {do2}?"
                if draw.random() < 0.5
                else f"How many days lay between the day that I {do} and the day that I {do2}?",
                first,
                second,
            )
        talk.draft.ask("order", f"In which order did I do this: {do}, {do3}, {do2}?", first, second, third)


def _contradictions(talk: Talk, project: Project) -> None:
    for contradiction in project.values["contradictions"]:
        one, other, ask = (project.fill(part) for part in contradiction.split("|"))
        first = talk.somewhere(project, one)
        second = first and talk.somewhere(project, other, after=first)
        if first and second:
            talk.draft.ask("contradiction", ask, first, second)


def _preferences(talk: Talk) -> None:
    draw = talk.draw
    nick = talk.once.value("coin")
    for say, *ask in draw.sample(table("prose")["preferences"], min(8, 3 + len(talk.projects))):
        place = talk.somewhere(None, say.format(nick=nick))
        if place is not None:
            talk.draft.ask("preference", draw.choice(ask), place, elsewhere=draw.random() < 0.3)


def _write(talk: Talk) -> None:
    picks: set[tuple[int, str]] = set()
    for session in talk.sessions:
        for number in range(0, len(session.turns), 2):
            request, answer = session.turns[number : number + 2]
            last = number + 2 == len(session.turns) and number > 0
            if last and id(request) not in talk.planted and talk.draw.random() < 0.4:
                prose = table("prose")
                request.content = talk.draw.choice(prose["social"])
                answer.content = session.topic.fill(talk.draw, talk.draw.choice(prose["social_answers"]))
                continue
            request.content = _request(talk, session, request, first=number == 0)
            answer.content = _answer(talk, session, request, answer, picks)


def _request(talk: Talk, session: Session, turn: DraftTurn, *, first: bool) -> str:
    draw, prose, topic = talk.draw, table("prose"), session.topic
    planted = talk.planted.get(id(turn), "")
    context = [
        topic.fill(draw, sentence)
        for sentence in draw.sample(prose["request_context"], draw.choice([0, 0, 1, 1, 2, 3]))
    ]
    if draw.random() < 0.15:
        slot = draw.choice(session.project.values["slots"])
        wish = topic.fill(draw, draw.choice(prose["mentions"]), label=slot["label"], p=session.project.name)
    else:
        wish = topic.fill(draw, draw.choice(prose["requests"] if first or draw.random() < 0.5 else prose["follow_ups"]))
    sentences = [*context, wish]
    if planted:
        sentences.insert(draw.randint(0, len(sentences)), planted)
    text = " ".join(sentences)
    if draw.random() < 0.12:
        text += "\n\n" + _pasted(talk, session)
    return text


def _pasted(talk: Talk, session: Session) -> str:
    draw = talk.draw
    if session.project.values.get("code") and draw.random() < 0.7:
        return _code(draw)
    return article(draw, session.topic)


def article(draw: Random, topic: Topic) -> str:
    kinds = {kind: value_of(draw, kind) for kind in ("city", "count", "percent", "money", "person", "company")}
    sentences = draw.sample(table("prose")["articles"], 4)
    return "\n".join(
        [f"“{value_of(draw, 'title')}: {topic.name}”", *(topic.fill(draw, text, **kinds) for text in sentences)]
    )


def _code(draw: Random) -> str:
    x, y = draw.choice(NAMES), draw.choice(FIELDS)
    return CODE.format(
        language="python",
        slug=f"{draw.choice(['load', 'sort', 'check', 'merge'])}_{x}",
        x=x,
        y=y,
        n=draw.randint(2, 90) * 10,
    )


def _answer(talk: Talk, session: Session, request: DraftTurn, answer: DraftTurn, picks: set[tuple[int, str]]) -> str:
    draw, prose, topic = talk.draw, table("prose"), session.topic
    label, value = talk.labels.get(id(request), ("", ""))
    echoed = [thing for thing in topic.things if thing in request.content] or [topic.name]
    wanted = min(4_000, max(500, int(draw.lognormvariate(7.4, 0.5))))

    def sentence(kind: str) -> str:
        return topic.fill(
            draw, draw.choice(prose[kind]), e=draw.choice(echoed), t=draw.choice(echoed + draw.sample(topic.things, 2))
        )

    parts = [sentence("answer_openings")]
    if label:
        parts.append(
            topic.fill(draw, draw.choice(prose["echoes"]), label=label, p=session.project.name, v=value or label)
        )
    blocks = [" ".join(parts)]
    while sum(map(len, blocks)) < wanted:
        blocks.append("## " + sentence("answer_headings"))
        if draw.random() < 0.5:
            blocks.append(" ".join(sentence("answer_sentences") for _ in range(draw.randint(2, 6))))
        if session.project.values.get("code") and draw.random() < 0.25:
            blocks.append(_code(draw))
        else:
            mark: Callable[[int], str] = draw.choice([lambda _: "- ", lambda n: f"{n}. "])
            blocks.append("\n".join(mark(n) + sentence("answer_lists") for n in range(1, draw.randint(3, 7))))
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
    values = {kind: value_of(draw, kind) for kind in ("product", "money", "title", "person", "company", "odd", "slug")}
    x, y, z = draw.sample(topic.things, 3)
    answer.raw = topic.fill(
        draw, say, t=thing, n=str(draw.randint(2, 9)), m=str(draw.randint(10, 30)), x=x, y=y, z=z, **values
    )
    place = draw.randrange(1, len(blocks))
    while blocks[place].startswith("##") or "```" in blocks[place]:
        place = draw.randrange(1, len(blocks))
    listed = blocks[place].startswith(("- ", "1. "))
    blocks[place] += f"\n\n{answer.raw}" if listed else f" {answer.raw}"
    elsewhere = draw.random() < 0.2
    talk.draft.ask(
        "assistant said" if not elsewhere else "cross-thread",
        draw.choice(ask).format(t=thing),
        answer,
        elsewhere=elsewhere,
    )
