"""What people state of themselves in six languages, mostly in the middle of something else, and what only looks like it."""

import pytest

from memory.consolidation.rule_extraction import extract
from tests.memory.turns import conversation


def facts(text: str) -> list[str]:
    return [fact.text for fact in extract(conversation(text)).facts]


def topics(text: str) -> list[str]:
    return [topic.title for topic in extract(conversation(text, "Yes.")).opened]


@pytest.mark.parametrize(
    ("said", "expected"),
    [
        ("I'm diabetic, which cereals are fine?", ["I'm diabetic."]),
        ("what suits a small garden, we live in Leeds so it's wet", ["We live in Leeds."]),
        ("Since I teach chemistry I'd like a quiz about acids.", ["I teach chemistry."]),
        ("My grandson collects stamps, what could I give him?", ["My grandson collects stamps."]),
        ("a cake without eggs please, i'm allergic", ["A cake without eggs please, i'm allergic."]),
        ("im allergic to wasps", ["Im allergic to wasps."]),
        ("cant stand liver", ["Cant stand liver."]),
        ("Weil ich in Emden wohne, brauche ich Tipps für den Garten.", ["Weil ich in Emden wohne."]),
        ("Ich bin Schlosser, was verdient man da in Bayern?", ["Ich bin Schlosser."]),
        ("Meine Enkelin spielt Harfe, was schenke ich ihr?", ["Meine Enkelin spielt Harfe."]),
        ("Ich vertrage keine Milch.", ["Ich vertrage keine Milch."]),
        ("Je suis menuisier, tu peux m'écrire une annonce ?", ["Je suis menuisier."]),
        ("Comme j'habite à Dijon, où aller dimanche ?", ["J'habite à Dijon."]),
        ("je supporte pas le bruit", ["Je supporte pas le bruit."]),
        ("Soy carpintera, ¿me ayudas con un anuncio?", ["Soy carpintera."]),
        ("Como vivo en Cuenca, ¿qué puedo ver el domingo?", ["Vivo en Cuenca."]),
        ("No como carne.", ["No como carne."]),
        ("Я плотник, напиши мне объявление?", ["Я плотник."]),
        ("У меня две кошки, чем их кормить?", ["У меня две кошки."]),
        ("Раз я живу в Омске, что посмотреть?", ["Я живу в Омске."]),
        ("Мне нельзя молоко.", ["Мне нельзя молоко."]),
        ("我是木匠，帮我写个广告？", ["我是木匠。"]),
        ("我住在成都，周末去哪里好？", ["我住在成都。"]),
        ("我养了两只鹦鹉，该喂什么？", ["我养了两只鹦鹉。"]),
        ("我对花生过敏。", ["我对花生过敏。"]),
    ],
)
def test_what_is_mentioned_in_a_request_is_noted_without_the_request(said: str, expected: list[str]) -> None:
    assert facts(said) == expected


@pytest.mark.parametrize(
    "said",
    [
        "Am I allergic to wasps?",
        "Was ist mein Beruf?",
        "Où est-ce que j'habite ?",
        "¿Dónde vivo?",
        "Где я живу?",
        "我住在哪里？",
        "I have another question, please.",
        "Ich habe noch eine Rückfrage.",
        "J'ai une autre question.",
        "Tengo otra duda.",
        "У меня ещё вопрос.",
        "我还有一个问题。",
        "I'm on the bus right now.",
        "Ich bin gerade im Zug.",
        "Je suis dans le bus là.",
        "Estoy cansado.",
        "Я сейчас в поезде.",
        "我现在在公交车上。",
        "My neighbour has two dogs.",
        "Mein Kollege wohnt in Ulm.",
        "Mon voisin est allergique aux chats.",
        "Mi vecino es alérgico a los gatos.",
        "Мой сосед живёт в Омске.",
        "我同事住在成都。",
        "Let's say I'm a pilot and I have two kids.",
        "Angenommen, ich bin Pilot und habe zwei Kinder.",
        "Disons que je suis pilote et que j'ai deux enfants.",
        "Supongamos que soy piloto y tengo dos hijos.",
        "Допустим, я лётчик и у меня двое детей.",
        "假设我是飞行员，有两个孩子。",
        "I'm married to my couch lol",
        "Ich bin mit meinem Sofa verheiratet 😂",
        "I have a list in Python and I have to sort it.",
        "У меня есть список в Python.",
        "Shorten this:\n\nDear all,\nI live in Cork and I have four children.",
        "Вот отзыв: «Я живу в Омске. У меня две кошки». Ответь.",
        "She wrote: “I live in Cork. I have a dog.” What now?",
        "请总结：\n\n大家好，我住在成都，有两个孩子。",
        "Error: I am lost\n  at Object.<anonymous> (/srv/app.js:3:7)\nwhat does it mean?",
    ],
)
def test_questions_moments_others_and_what_is_not_meant_are_not_noted(said: str) -> None:
    assert facts(said) == []


@pytest.mark.parametrize(
    ("said", "expected"),
    [
        ("gotta fix the fence, is that hard?", ["Gotta fix the fence."]),
        ("Il faut que j'appelle le notaire.", ["Il faut que j'appelle le notaire."]),
        ("Aún hay que pagar la multa.", ["Aún hay que pagar la multa."]),
        ("Мне надо позвонить в банк.", ["Мне надо позвонить в банк."]),
        ("我得修水龙头，难吗？", ["我得修水龙头。"]),
        ("提醒我给银行打电话", ["提醒我给银行打电话。"]),
        ("I need to write a regex for dates.", []),
        ("Мне нужна минутка.", []),
        ("我想要短一点的。", []),
    ],
)
def test_what_is_to_be_done_is_open_in_each_language(said: str, expected: list[str]) -> None:
    assert topics(said) == expected


@pytest.mark.parametrize(
    ("said", "until"),
    [
        ("I'm flying to Oslo tomorrow.", "2026-03-04T00:00:00+01:00"),
        ("Am Sonntag laufe ich den Halbmarathon.", "2026-03-09T00:00:00+01:00"),
        ("20 марта у меня экзамен.", "2026-03-21T00:00:00+01:00"),
        ("下周五我飞奥斯陆。", "2026-03-14T00:00:00+01:00"),
        ("Every Friday I swim in the lake.", None),
    ],
)
def test_a_plan_holds_until_its_day_is_over(said: str, until: str | None) -> None:
    (fact,) = extract(conversation(said)).facts
    assert (fact.valid_until.isoformat() if fact.valid_until else None) == until
