import json
from collections.abc import Sequence
from typing import Any

import pytest
from django.test import override_settings

from conversations.providers import get_provider
from conversations.providers.base import Finished, ToolCalled, ToolDelta, ToolStarted, Usage
from conversations.providers.markers import ARTIFACTS, CONTEXTUALISED, RECALLED
from conversations.providers.messages_api import RequestParts
from conversations.providers.offline import PIECE_CHARS
from conversations.providers.offline_answers import answer
from conversations.providers.offline_artifacts import (
    NOTHING_SAID,
    ORIGIN,
    TO_BE_WRITTEN,
    ArtifactRequest,
    UserSentences,
    artifact,
    artifact_asked_for,
    table_in_files,
)

BAKERY = "By the way, we're building a FastAPI app for a bakery."
SAVE = {"name": "save_artifact", "input_schema": {"type": "object"}}
PRESET = """[Instruction of the preset “User stories”, given by Openbook and not by the person]

Tell who wants what. Why is it wanted?

Save the result once with the tool save_artifact, as {kind}, and write nothing beside it.
Title: User stories: <the subject in a few words>"""


def offered(*messages: dict[str, Any], **changed: Any) -> dict[str, Any]:
    system = [{"type": "text", "text": "You are a companion."}]
    rendered = get_provider("offline").render(
        RequestParts(model="offline", max_tokens=1024, system=system, messages=messages, tools=[SAVE])
    )
    return rendered | changed


def user(text: str) -> dict[str, Any]:
    return {"role": "user", "content": text}


def artifact_of(*texts: str) -> dict[str, str] | None:
    """What is saved after these texts of the user, each but the last answered by a model."""
    replied = {"role": "assistant", "content": "We sell cake."}
    earlier = [message for text in texts[:-1] for message in (user(text), replied)]
    return artifact_asked_for(offered(*earlier, user(texts[-1])))


def called(**result: Any) -> Sequence[dict[str, Any]]:
    call = {"type": "tool_use", "id": "t", "name": "save_artifact", "input": {"title": "Summary"}}
    answered = {"type": "tool_result", "tool_use_id": "t", "content": "x", **result}
    return user("Write a summary"), {"role": "assistant", "content": [call]}, {"role": "user", "content": [answered]}


def test_an_artifact_is_made_of_what_the_person_said() -> None:
    asked = "We open at five. Please write a BRD for the bakery."
    assert artifact_of(BAKERY, "What does rye cost?", "Create a table", BAKERY, asked) == {
        "title": "BRD for the bakery",
        "kind": "document",
        "content": f"# BRD for the bakery\n\n{ORIGIN}\n\n## What was said\n\n- “{BAKERY}”\n- “We open at five.”\n\n"
        "## Questions that were asked\n\n- “What does rye cost?”\n",
    }


def test_a_preset_names_its_artifact_and_its_words_are_nobodys() -> None:
    content = f"# User stories\n\n{ORIGIN}\n\n## What was said\n\n- “{BAKERY}”\n"
    saved = {"title": "User stories", "kind": "document", "content": content}
    assert artifact_of(BAKERY, PRESET.format(kind="document")) == saved
    assert artifact_of(PRESET.format(kind="code, language sql")) == {
        "title": "User stories",
        "kind": "code",
        "language": "sql",
        "content": f"-- # User stories\n--\n-- {ORIGIN}\n--\n-- ## What was said\n--\n-- {NOTHING_SAID}\n",
    }


@pytest.mark.parametrize(
    ("request_text", "title", "kind"),
    [
        ("Can you make me a summary, please?", "Summary", "document"),
        ("generate user stories with acceptance criteria", "User stories with acceptance criteria", "document"),
        ("Now draw a diagram of the summary page", "Diagram of the summary page", "mermaid"),
        ("Hi. Please create a web page!", "Web page", "html"),
        ("Prepare a comparison table", "Comparison table", "table"),
        ("Write a Python script", "Python script", "code"),
        ("Schreib bitte eine Zusammenfassung.", "Zusammenfassung", "document"),
        ("Rédige un résumé", "Résumé", "document"),
        ("Crea un documento de requisitos", "Documento de requisitos", "document"),
        (
            "Write a one-page brief for an app with which a bakery takes orders. Ask me what you need to know first.",
            "One-page brief for an app with which a bakery takes orders",
            "document",
        ),
        (
            "Draw how an order goes from the customer to the oven as a Mermaid diagram.",
            "How an order goes from the customer to the oven as a Mermaid diagram",
            "mermaid",
        ),
    ],
)
def test_common_wordings_ask_for_an_artifact(request_text: str, title: str, kind: str) -> None:
    saved = artifact_of(request_text)
    assert saved is not None
    assert (saved["title"], saved["kind"]) == (title, kind)


@pytest.mark.parametrize(
    "text",
    [
        "I write code for a bakery.",
        "How do I write a test plan?",
        "Make it shorter",
        "Add a step for the payment",
        "Compare three ways to take payments in a table: cost, effort and risk.",
        "What is in the document?",
        "The summary was good.",
        "Title: A page\nSome text",
        "",
    ],
)
def test_other_texts_ask_for_none(text: str) -> None:
    assert artifact_of(text) is None


LISTING = f"""{ARTIFACTS}
- “How an order goes” (mermaid, version 1, id 12-ab)
- “The “old” brief” (document, version 3, id 34-cd)"""


@pytest.mark.parametrize(
    ("text", "title", "kind"),
    [
        ("Add a step for the payment.", "How an order goes", "mermaid"),
        ("Update the document: we open at six.", "The “old” brief", "document"),
        ("Make it shorter", "How an order goes", "mermaid"),
        ("Write a test plan", "Test plan", "document"),
    ],
)
def test_a_change_makes_another_version_of_what_is_listed(text: str, title: str, kind: str) -> None:
    content = [{"type": "text", "text": part} for part in (text, LISTING)]
    replied = {"role": "assistant", "content": "Nice."}
    saved = artifact_asked_for(offered(user(BAKERY), replied, {"role": "user", "content": content}))
    assert saved is not None
    assert (saved["title"], saved["kind"], text in saved["content"]) == (title, kind, title != "Test plan")


def test_a_preset_tells_the_headings_of_a_document() -> None:
    structure = "Structure\n1. Summary: the need.\n2. Goals and measures: each.\n3. Open questions."
    saved = artifact_of(PRESET.format(kind="document").replace("Tell who", f"{structure}\n\nTell who"))
    assert saved is not None
    assert saved["content"].endswith(
        f"## Summary\n\n{TO_BE_WRITTEN}\n\n## Goals and measures\n\n{TO_BE_WRITTEN}\n\n## Open questions\n\n{TO_BE_WRITTEN}\n"
    )


def test_a_request_without_an_answer_is_not_fulfilled_by_the_next_message() -> None:
    content = [{"type": "text", "text": text} for text in ("Write a summary", "Good morning.")]
    assert artifact_asked_for(offered({"role": "user", "content": content})) is None


def test_nothing_is_saved_where_it_cannot_be_saved_or_was_saved_just_now() -> None:
    asked = user("Write a summary")
    assert artifact_asked_for(offered(asked, tools=[])) is None
    assert artifact_asked_for(offered(asked, tools=[SAVE | {"name": "search"}])) is None
    assert artifact_asked_for(offered(asked, tool_choice={"type": "none"})) is None
    assert artifact_asked_for(offered(*called())) is None
    assert artifact_asked_for(offered(asked)) is not None


@pytest.mark.parametrize(
    ("result", "said"),
    [
        ({}, "It is saved: “Summary”. It quotes what you said, as there is no model to write more."),
        ({"is_error": True}, "It could not be saved: “Summary”."),
    ],
)
def test_what_came_of_saving_is_told_in_one_sentence(result: dict[str, Any], said: str) -> None:
    assert said in answer(offered(*called(**result)))


def test_rules_about_tools_are_nobodys_words() -> None:
    rules = {"type": "text", "text": "## Artifacts\n\nSave a table of prices with save_artifact."}
    asked = offered(user("What is in the table of prices?"))
    assert answer(asked | {"system": [*asked["system"], rules]}) == answer(asked)


def test_calls_in_the_history_are_nobodys_words() -> None:
    history = [*called(content="The price of rye is 3."), {"role": "assistant", "content": "Done."}]
    assert answer(offered(*history, user("What is the price of rye?"))) == answer(
        offered(user("Write a summary"), {"role": "assistant", "content": "Done."}, user("What is the price of rye?"))
    )


@pytest.mark.parametrize("mark", [ARTIFACTS, RECALLED, CONTEXTUALISED])
def test_what_openbook_added_asks_for_nothing_and_is_quoted_as_nobodys_words(mark: str) -> None:
    texts = ("We sell rye bread.", f"{mark}\n- Write a summary of cake")
    added = {"role": "user", "content": [{"type": "text", "text": text} for text in texts]}
    assert artifact_asked_for(offered(added)) is None
    saved = artifact_asked_for(offered(added, user("Write a summary")))
    assert saved is not None
    assert saved["content"] == f"# Summary\n\n{ORIGIN}\n\n## What was said\n\n- “We sell rye bread.”\n"


ODD = 'He said "#1" | <b>x</b> & `y`; --> end'
STEP = "He said #34;#35;1#34; #124; #60;b#62;x#60;#47;b#62; #38; #96;y#96;#59; --#62; end"
HTML = "He said &quot;#1&quot; | &lt;b&gt;x&lt;/b&gt; &amp; `y`; --&gt; end"


@pytest.mark.parametrize(
    ("kind", "ending"),
    [
        ("table", '| What was said | He said "#1" \\| <b>x</b> & `y`; --> end |\n'),
        ("mermaid", f'flowchart TD\n    s0["T #60;"]\n    s1["{STEP}"]\n    s0 --> s1\n'),
        ("code", f"#\n# - “{ODD}”\n"),
        ("html", f"<h1>T &lt;</h1>\n<p>{ORIGIN}</p>\n<blockquote>{HTML}</blockquote>\n"),
        ("svg", f'<text x="10" y="65">{HTML}</text>\n</svg>\n'),
    ],
)
def test_every_kind_is_well_formed_whatever_was_said(kind: str, ending: str) -> None:
    content = artifact(ArtifactRequest(title="T <", kind=kind), UserSentences(statements=[ODD], questions=[]))[
        "content"
    ]
    assert content[-len(ending) :] == ending
    assert ORIGIN in content


async def test_a_call_streams_in_pieces_that_join_to_its_input() -> None:
    asked = offered(user(BAKERY), {"role": "assistant", "content": "Nice."}, user("Write a summary"))
    with override_settings(OPENBOOK_OFFLINE_WORD_SECONDS=0):
        start, *deltas, call, end = [event async for event in get_provider("offline").stream(asked)]
    assert isinstance(start, ToolStarted)
    pieces = [event.json for event in deltas if isinstance(event, ToolDelta) and event.id == start.id]
    saved = artifact_asked_for(asked)
    assert (start.name, len(pieces), json.loads("".join(pieces))) == ("save_artifact", len(deltas), saved)
    assert call == ToolCalled(id=start.id, name="save_artifact", input=saved)
    assert max(map(len, pieces)) == PIECE_CHARS
    usage = Usage(input_tokens=4 + 11 + 1 + 3, output_tokens=len("".join(pieces).split()))
    assert end == Finished(stop_reason="tool_use", usage=usage)


PAGES = """<file name="plan.docx" parts="2">
<part number="1" label="page 1">
| Tea | Price |
| --- | --- |
| Green | 2 € |
</part>
<part number="2" label="page 2">
Staff of the port
Name Hours Pay
Ann 7 84 €
Bo 8 90 €
And more to come
</part>
</file>"""


@pytest.mark.parametrize(
    ("request_", "rows"),
    [
        ("Make the table on page 1 a spreadsheet", ["| Tea | Price |", "| --- | --- |", "| Green | 2 € |"]),
        (
            "Mache die Tabelle auf Seite 2 zu einer Tabelle",
            ["| Name | Hours | Pay |", "| --- | --- | --- |", "| Ann | 7 | 84 € |", "| Bo | 8 | 90 € |"],
        ),
        ("Make a table of it", ["| Tea | Price |", "| --- | --- |", "| Green | 2 € |"]),
        ("Make the table on page 3 a spreadsheet", []),
    ],
)
def test_a_table_of_a_file_is_copied_from_the_page_that_is_named(request_: str, rows: list[str]) -> None:
    assert table_in_files(["<file>", PAGES], request_).splitlines() == rows
