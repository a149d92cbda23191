"""The page of one model request: the open book."""

import hashlib
import json
import re

import pytest
from django.contrib.auth.models import Group, Permission, User
from django.contrib.contenttypes.models import ContentType
from django.db import connection
from django.test.utils import CaptureQueriesContext

from conversations.context.query.rewriting_request import rewriting_context
from conversations.context.record import snapshots
from conversations.context.render.rendering import canonical
from conversations.context.tokens import calibration as token_calibration
from conversations.models import Assistant, ContextBlock, ContextSnapshot, Reply, text_blocks
from conversations.providers import get_provider
from conversations.providers.offline import OfflineProvider
from conversations.staff.snapshot import snapshot_page
from conversations.staff.snapshot.candidates import Tally
from conversations.staff.snapshot.missing import LeftOut
from conversations.staff.snapshot.response import TokenFigure
from conversations.threads.deletion import allow_deletion
from memory.index.index_turns import catch_up
from memory.models import Topic
from tests.artifacts.factories import make_artifact
from tests.conversations.factories import (
    chain,
    make_context,
    make_file,
    make_reply,
    make_snapshot,
    make_thread,
    make_user,
    record,
)
from tests.conversations.staff.conftest import SignIn, StaffReader, list_url, open_content, page_url
from tests.html import as_read
from tests.memory.factories import make_memory, make_topic

pytestmark = pytest.mark.django_db

TRUMP = ["Who is Donald Trump?", "A former president.", "who are his children"]


def page_of(snapshot: ContextSnapshot) -> snapshot_page.SnapshotPage:
    return snapshot_page.snapshot_page(snapshot, shown=True)


def small_assistant(**changes: int) -> Assistant:
    budget = {
        "history_tokens_low": 0,
        "history_tokens_high": 60,
        "total_tokens": 100,
        "hard_cap_tokens": 150,
        "recall_tokens": 0,
    }
    return Assistant.objects.create(slug="small", name="Small", system_prompt="Be brief.", **budget | changes)


def make_rewrite(reply: Reply) -> ContextSnapshot:
    """The request that asks for the contextualised query of a reply."""
    asked = rewriting_context(make_context(reply), assistant=reply.thread.assistant, provider=OfflineProvider())
    return record(asked, reply)


def test_the_verdict_comes_first(staff: StaffReader) -> None:
    page = staff.read(page_url("contextsnapshot", make_snapshot(make_thread(turns=TRUMP)).pk)).text
    [verdict] = re.findall(r'<p class="ob-verdict">(.*?)</p>', page)
    tokens = ContextSnapshot.objects.get().total_tokens
    assert verdict == f"2 earlier turns sent, none left out; {tokens} of 4,100 tokens"
    assert page.index(verdict) < page.index('id="tokens"') < page.index('id="sent"') < page.index('id="left-out"')
    assert page.index('id="left-out"') < page.index('id="request"') < page.index('id="response"')


def test_the_verdict_counts_what_was_left_out_by_reason() -> None:
    snapshot = make_snapshot(make_thread(turns=[f"turn {n}" for n in range(1, 122)], assistant=small_assistant()))
    sent = snapshot.message_history_count
    missing = 120 - sent
    assert snapshot_page.verdict(snapshot) == (
        f"{sent} earlier turns sent, {missing} left out: {missing} over budget; {snapshot.total_tokens} of 100 tokens"
    )


def test_the_turns_are_listed_in_the_order_sent() -> None:
    page = page_of(make_snapshot(make_thread(turns=TRUMP)))
    assert [(turn.position, turn.role, turn.excerpt, turn.reason) for turn in page.sent.open] == [
        (1, "user", "Who is Donald Trump?", "Recent enough for the window"),
        (2, "assistant", "A former president.", "Recent enough for the window"),
        (3, "user", "who are his children", "The message to answer"),
    ]


def test_of_many_turns_the_newest_stand_open_and_the_others_are_folded_or_linked() -> None:
    room = {"history_tokens_high": 9_000, "total_tokens": 9_100, "hard_cap_tokens": 9_200}
    assistant = small_assistant(**room, history_turns_max=150, history_turns_min=150)
    page = page_of(make_snapshot(make_thread(turns=["text"] * 161, assistant=assistant)))
    assert [turn.position for turn in page.sent.open] == [*range(152, 162)]
    assert [turn.position for turn in page.sent.folded] == [*range(62, 152)]
    assert (page.sent.hidden, page.sent.hidden_before) == (51, 62)


def test_every_turn_that_was_left_out_has_its_reason_in_words() -> None:
    snapshot = make_snapshot(make_thread(turns=["text"] * 121, assistant=small_assistant()))
    page = page_of(snapshot)
    left = 120 - snapshot.message_history_count
    words = "Older than what the token budget holds"
    assert [(cause.reason, cause.count) for cause in page.causes] == [(words, left)]
    assert "at most 60 tokens" in page.causes[0].rule
    assert "a budget of 100 and a hard cap of 150" in page.causes[0].rule
    assert sum(row.count for row in page.left_out) == left
    assert page.left_out[0] == LeftOut(
        what=f"turns 1 to {left - 20}", message=None, count=left - 20, tokens=None, exact=False, reason=words
    )


def test_the_bar_and_the_table_show_the_same_numbers(staff: StaffReader) -> None:
    snapshot = make_snapshot(make_thread(turns=TRUMP))
    text = as_read(staff.read(page_url("contextsnapshot", snapshot.pk)).text)
    drawn = dict(re.findall(r"<title>([^<:]+): ([\d,]+)</title>", text))
    rows = re.findall(r'</svg>([^<]+)</th>\s*<td class="ob-number">([\d,]+)</td>', text)
    assert drawn == dict(rows) | {"Budget": "4,100"}
    assert sum(int(tokens) for _, tokens in rows) == snapshot.total_tokens


def test_the_segments_follow_one_another_within_the_bar() -> None:
    page = page_of(make_snapshot(make_thread(turns=TRUMP)))
    ends = [round(segment.x + segment.width, 1) for segment in page.segments]
    starts = [segment.x for segment in page.segments]
    assert starts == pytest.approx([0, *ends[:-1]], abs=0.2)
    assert page.budget_x == 1000
    assert ends[-1] <= 1000


def test_the_download_is_what_the_digest_is_taken_of(staff: StaffReader) -> None:
    snapshot = make_snapshot(make_thread(turns=TRUMP))
    response = staff.read(page_url("contextsnapshot", snapshot.pk, "request"))
    assert hashlib.sha256(response.content).digest() == bytes(snapshot.digest)
    assert json.loads(response.content) == snapshots.rebuild(snapshot)
    assert response["Content-Type"] == "application/json"
    assert response["Content-Disposition"] == f'attachment; filename="request-{snapshot.pk}.json"'
    assert page_url("contextsnapshot", snapshot.pk, "request").endswith(f"contextsnapshot/{snapshot.pk}/request.json")


def test_a_request_that_can_be_rebuilt_is_proven(staff: StaffReader) -> None:
    page = staff.read(page_url("contextsnapshot", make_snapshot(make_thread(turns=TRUMP)).pk)).text
    assert "proven ✓" in page
    assert "not proven" not in page
    assert "who are his children" in page


def test_a_request_whose_text_is_gone_says_so(staff: StaffReader) -> None:
    snapshot = make_snapshot(make_thread(turns=TRUMP))
    with allow_deletion():
        ContextBlock.objects.all().delete()
    page = staff.read(page_url("contextsnapshot", snapshot.pk)).text
    raw = staff.read(page_url("contextsnapshot", snapshot.pk, "request"))
    assert "not proven ✗" in page
    assert "a text that it was made of has been deleted since" in page
    assert (raw.status_code, raw.text) == (410, "A text of this request has been deleted since.\n")


def test_a_huge_request_is_shown_as_far_as_a_browser_likes_it(staff: StaffReader) -> None:
    turns = ["word " * 4_000] * 31
    snapshot = make_snapshot(make_thread(turns=turns, assistant=Assistant.objects.get(slug="analyst")))
    page = staff.read(page_url("contextsnapshot", snapshot.pk)).text
    size = len(canonical(snapshots.rebuild(snapshot)))
    assert size > 500_000
    assert len(page) < 250_000
    assert f"The first 60,000 characters; {size - 60_000:,} more are in the download." in as_read(page)


def test_estimated_and_reported_tokens_stand_side_by_side() -> None:
    usage = {"input_tokens": 100, "cache_read_input_tokens": 30, "cache_creation_input_tokens": 20, "output_tokens": 7}
    snapshot = make_snapshot(make_thread(turns=TRUMP), usage=usage)
    assert page_of(snapshot).figures == [
        TokenFigure(label="Input tokens", estimated=snapshot.total_tokens, reported=150),
        TokenFigure(label="of these read from the prompt cache", estimated=None, reported=30),
        TokenFigure(label="of these written to the prompt cache", estimated=None, reported=20),
        TokenFigure(label="Output tokens", estimated=None, reported=7),
    ]


def test_what_is_part_of_another_number_stands_below_it() -> None:
    usage = {
        "input_tokens": 100,
        "cache_creation_input_tokens": 20,
        "cache_creation_1h_input_tokens": 15,
        "output_tokens": 7,
        "thinking_tokens": 5,
    }
    snapshot = make_snapshot(make_thread(turns=TRUMP), usage=usage)
    assert [(figure.label, figure.reported) for figure in page_of(snapshot).figures] == [
        ("Input tokens", 120),
        ("of these read from the prompt cache", None),
        ("of these written to the prompt cache", 20),
        ("of these for an hour", 15),
        ("Output tokens", 7),
        ("of these thinking", 5),
    ]


def test_the_factor_between_estimated_and_reported_tokens_is_shown(staff: StaffReader) -> None:
    first = make_snapshot(make_thread(turns=TRUMP))
    page = staff.read(page_url("contextsnapshot", first.pk)).text
    assert f"Fitted with 1.00 tokens of {first.model} for each estimated one." in page
    assert "Today it is 1.00, as shipped, until 10 requests have told." in page
    for number in range(2, 12):
        make_snapshot(reply=first.reply, round=number, usage={"input_tokens": first.total_tokens * 6 // 5})
    token_calibration.learn(first.provider, first.model)
    page = staff.read(page_url("contextsnapshot", first.pk)).text
    assert "Today it is 1.20, learnt from its newest 10 requests." in page
    token_calibration.forget()


def test_a_failed_request_shows_its_error(staff: StaffReader) -> None:
    error = {"type": "model", "code": "overloaded", "message": "<b>Busy</b>", "details": {}, "request_id": ""}
    snapshot = make_snapshot(make_thread(turns=TRUMP), status="failed", error=error)
    page = staff.read(page_url("contextsnapshot", snapshot.pk)).text
    assert "&lt;b&gt;Busy&lt;/b&gt;" in page
    assert '<span class="ob-error">overloaded</span>' in page


def test_a_system_prompt_is_never_markup(staff: StaffReader) -> None:
    assistant = small_assistant()
    Assistant.objects.filter(pk=assistant.pk).update(system_prompt="</pre></div><script>alert(1)</script>")
    assistant.refresh_from_db()
    page = staff.read(page_url("contextsnapshot", make_snapshot(make_thread(turns=TRUMP, assistant=assistant)).pk)).text
    assert "<script>alert(1)" not in page
    assert "&lt;script&gt;alert(1)" in page


def test_the_requests_of_a_thread_lead_to_one_another(staff: StaffReader) -> None:
    thread = make_thread(turns=TRUMP)
    make_snapshot(make_thread(turns=TRUMP))
    first, second, third = (make_snapshot(thread) for _ in range(3))
    neighbours = [(page.relatives.previous, page.relatives.next) for page in map(page_of, (first, second, third))]
    assert neighbours == [(None, second), (first, third), (second, None)]
    page = staff.read(page_url("contextsnapshot", second.pk)).text
    assert f'<a rel="prev" href="{page_url("contextsnapshot", first.pk)}">' in page
    assert f'<a rel="next" href="{page_url("contextsnapshot", third.pk)}">' in page


def test_a_request_to_another_model_than_the_one_before_says_what_that_changed(staff: StaffReader) -> None:
    thread = make_thread(turns=TRUMP)
    companion, anthropic = Assistant.objects.filter(pk=thread.assistant_id), get_provider("anthropic")
    companion.update(provider="anthropic", model="claude-opus-5-5")
    thread.assistant.refresh_from_db()
    first = make_snapshot(thread, provider=anthropic)
    failed = make_snapshot(thread, provider=anthropic, status=ContextSnapshot.Status.FAILED)
    second = make_snapshot(thread, provider=anthropic)
    companion.update(model="claude-haiku-5-5", total_tokens=4_000)
    thread.assistant.refresh_from_db()
    third = make_snapshot(thread, provider=anthropic)
    assert [page_of(each).switch for each in (first, failed, second)] == [None] * 3
    switch = page_of(third).switch
    assert switch and (switch.request, switch.provider, switch.model) == (second.pk, "anthropic", "claude-opus-5-5")
    budget = "Its budget is 4,000 tokens instead of 4,100."
    assert switch.headline == "Answered by Claude Haiku 5.5, the attempt before by Claude Opus 5.5."
    assert budget in switch.effects
    page = as_read(staff.read(page_url("contextsnapshot", third.pk)).text)
    assert switch.headline in page and budget in page
    assert f'href="{page_url("contextsnapshot", third.pk)[:-7]}compare/?with={second.pk}"' in page


def test_requests_of_the_same_instant_keep_their_order() -> None:
    thread = make_thread(turns=TRUMP)
    first, second = make_snapshot(thread), make_snapshot(thread)
    with allow_deletion():
        ContextSnapshot.objects.filter(pk=second.pk).update(created_at=first.created_at)
    second.refresh_from_db()
    assert (page_of(first).relatives.next, page_of(second).relatives.previous) == (second, first)


def test_a_request_leads_to_its_thread_turn_reply_user_and_assistant(staff: StaffReader) -> None:
    snapshot = make_snapshot(make_thread(turns=TRUMP))
    page = staff.read(page_url("contextsnapshot", snapshot.pk)).text
    targets = [
        page_url("thread", snapshot.thread_id),
        page_url("message", snapshot.message_id),
        page_url("reply", snapshot.reply_id),
        page_url("assistant", snapshot.thread.assistant_id),
        f"/admin/auth/user/{snapshot.thread.user_id}/change/",
    ]
    assert [f'href="{target}"' in page for target in targets] == [True] * 5
    back = [staff.get(url).text for url in targets[:3]]
    assert [page_url("contextsnapshot", snapshot.pk) in text for text in back] == [True] * 3


def test_the_page_has_no_inline_script_or_style(staff: StaffReader) -> None:
    snapshot = make_snapshot(make_thread(turns=TRUMP), ended_at=None)
    page = staff.read(page_url("contextsnapshot", snapshot.pk)).text
    assert re.findall(r"<style|\sstyle=|\son\w+=", page) == []
    assert re.findall(r"<script(?![^>]*\ssrc=)", page) == []


def test_a_source_that_failed_is_named_in_the_verdict_and_in_the_list(staff: StaffReader) -> None:
    thread = make_thread(turns=["What is still open?"])
    with connection.cursor() as cursor:
        cursor.execute("ALTER TABLE memory_topic RENAME TO elsewhere")
        snapshot = make_snapshot(thread)
        cursor.execute("ALTER TABLE elsewhere RENAME TO memory_topic")
    page = staff.read(page_url("contextsnapshot", snapshot.pk)).text
    assert snapshot_page.verdict(snapshot).endswith(" tokens; open threads failed")
    assert "<strong>open threads</strong>: The database did not answer: UndefinedTable." in as_read(page)
    assert '<span class="ob-second ob-error">open threads failed</span>' in staff.get(list_url("contextsnapshot")).text


def test_what_is_known_of_the_person_is_told_apart_and_where_it_comes_from() -> None:
    thread = make_thread(turns=["Hello.", "Hello!", "What time is it in Lisbon?"])
    source = thread.messages.get(position=1)
    memory = make_memory(thread.user, "Ada bakes bread.", sources=[source.pk])
    topic = make_topic(thread.user, "The leaking oven door", thread=thread)
    over = make_memory(thread.user, "A long story. " * 300, created_at=source.created_at)
    snapshot = make_snapshot(thread)
    Topic.objects.all().delete()
    page = page_of(snapshot)
    fates = {(row.what, row.id): (row.included, row.reason, row.excerpt, row.message) for row in page.known}
    assert fates == {
        ("memory", str(memory.pk)): (True, "Known as the session began", "Ada bakes bread.", source.pk),
        ("topic", str(topic.pk)): (True, "Known as the session began", "", None),
        ("memory", str(over.pk)): (False, "No room for it", over.content[:300], None),
    }
    assert [row.included for row in page.known] == [True, True, False]
    rule = "The memory takes at most 500 tokens and 2,000 characters."
    tally = Tally(what="1 memory", included=False, code="over_budget", reason="No room for it", rule=rule)
    assert tally in page.known_tally


def test_the_contextualised_query_stands_beside_the_message_as_written() -> None:
    page = page_of(make_snapshot(make_thread(turns=TRUMP)))
    assert (page.sent.newest, page.rewritten.query, page.rewritten.outcome) == (
        "who are his children",
        "who are his children (about: Donald Trump)",
        "A contextualised query was added",
    )


def test_a_request_for_a_query_reads_as_what_it_is(staff: StaffReader) -> None:
    reply = make_reply(make_thread(turns=TRUMP))
    asked = make_rewrite(reply)
    used = make_snapshot(reply=reply)
    page = page_of(asked)
    assert page.verdict == (
        f"offline asked for a contextualised query, given 2 earlier turns, none left out; {asked.total_tokens} tokens"
    )
    labels = ["Instructions", "Memory, turns and message, as JSON"]
    assert [segment.label for segment in page.segments] == labels
    assert [part.label for part in [*page.sent.before, *page.sent.after] if part.text] == labels
    assert (page.budget_x, page.relatives.others) == (None, [used])
    assert page.rewritten == page_of(used).rewritten
    text = staff.read(page_url("contextsnapshot", asked.pk)).text
    assert f'<a href="{page_url("contextsnapshot", used.pk)}">round 1</a>' in as_read(text)
    assert f'<a href="{page_url("contextsnapshot", asked.pk)}">contextualised query</a>' in as_read(
        staff.read(page_url("contextsnapshot", used.pk)).text
    )


def test_requests_for_a_query_are_told_apart_in_lists_and_in_the_thread(staff: StaffReader) -> None:
    reply = make_reply(make_thread(turns=TRUMP))
    asked, used = make_rewrite(reply), make_snapshot(reply=reply)
    only = staff.get(list_url("contextsnapshot", purpose__exact="rewrite")).context["cl"].queryset
    assert list(only) == [asked]
    names = re.findall(
        r'<a href="([^"]+)">(Contextualised query|Model request[ \d]*)</a>',
        as_read(staff.read(page_url("thread", reply.thread_id)).text),
    )
    assert names == [
        (page_url("contextsnapshot", asked.pk), "Contextualised query"),
        (page_url("contextsnapshot", used.pk), "Model request"),
    ]
    assert "contextualised query (pending)</a>, <a" in staff.get(page_url("reply", reply.pk)).text


def test_a_query_that_failed_is_named_in_the_verdict() -> None:
    snapshot = make_snapshot(make_thread(turns=TRUMP))
    snapshot.rewriting = "timed_out"
    assert snapshot_page.failures(snapshot) == ["contextualised query timed out"]


def test_what_was_recalled_stands_with_its_score_best_first(staff: StaffReader) -> None:
    turns = ["My dog is called Biscuit.", "Good dog.", "My dog barks.", "I see."]
    turns += ["So it is, all in all, and more of it."] * 20 + ["What is my dog Biscuit called?"]
    assistant = small_assistant(total_tokens=900, hard_cap_tokens=1_000, recall_tokens=500)
    snapshot = make_snapshot(make_thread(turns=turns, assistant=assistant))
    page = page_of(snapshot)
    scores = [row.score for row in page.known if row.what == "earlier turn"]
    assert scores == sorted((item["score"] for item in snapshot.recalled or ()), reverse=True)
    assert [page.known[0].excerpt, len(scores) > 1] == ["My dog is called Biscuit.", True]
    assert f'<td class="ob-number">{scores[0]:.2f}</td>' in staff.read(page_url("contextsnapshot", snapshot.pk)).text


def test_of_a_long_turn_each_passage_stands_with_its_own_fate(staff: StaffReader) -> None:
    advice = [f"Hint {n}: keep what is dear to you in the {n}th bag, and have an eye on such a bag." for n in range(40)]
    answer = "\n\n".join([*advice[:20], "Konditori Lyra is the best place for cake.", *advice[20:]])
    user = make_user()
    make_thread(user, ["Where do I get cake?", answer])
    catch_up(user.pk)
    snapshot = make_snapshot(make_thread(user, ["Which was the best place for cake?"]))
    (row,) = [row for row in page_of(snapshot).known if row.passages]
    assert [answer[passage.start : passage.end] for passage in row.passages] == [part.text for part in row.passages]
    given = [passage for passage in row.passages if passage.included]
    assert any("Konditori Lyra" in passage.text for passage in given)
    assert row.tokens == sum(passage.tokens for passage in given)
    page = staff.read(page_url("contextsnapshot", snapshot.pk)).text
    assert f"characters {given[0].start:,}–{given[0].end:,}" in as_read(page)


def test_the_page_of_eighty_turns_takes_at_most_seventeen_statements(signed_in: SignIn) -> None:
    """With the session, the user, the permissions by a group, two records of the look, two looks for a request, what checks
    made of it, whether a hold keeps some of it, and which programs hear of the look."""
    room = {"history_tokens_high": 9_000, "total_tokens": 9_100, "hard_cap_tokens": 9_200}
    assistant = small_assistant(**room, history_turns_max=80, history_turns_min=80)
    thread = make_thread(turns=["A turn of some words."] * 121, assistant=assistant)
    made = thread.messages.get(position=110)
    make_artifact(thread, message=made)
    make_memory(thread.user)
    snapshot = make_snapshot(thread)
    client = signed_in()
    lead = Group.objects.create(name="Leads")
    lead.permissions.set(Permission.objects.filter(codename__in=["view_contextsnapshot", "read_content"]))
    User.objects.get(pk=client.session["_auth_user_id"]).groups.add(lead)
    open_content(client)
    ContentType.objects.get_for_model(ContextSnapshot)  # a process asks once
    with CaptureQueriesContext(connection) as queries:
        text = client.get(page_url("contextsnapshot", snapshot.pk)).text
    statements = [query["sql"] for query in queries if "SAVEPOINT" not in query["sql"]]
    assert (snapshot.message_history_count, "A turn of some words." in text) == (80, True)
    assert "2</strong> its artifact was made" in as_read(text)
    assert len(statements) <= 17, statements


def test_the_page_costs_the_same_whatever_is_known(staff: StaffReader) -> None:
    few, many = make_thread(turns=TRUMP), make_thread(turns=TRUMP)
    make_memory(few.user)
    for number in range(30):
        make_memory(many.user, f"Fact {number}")
        make_topic(many.user, f"Topic {number}")
    counts = []
    for snapshot in [make_snapshot(few)] * 2 + [make_snapshot(many)]:
        with CaptureQueriesContext(connection) as queries:
            staff.read(page_url("contextsnapshot", snapshot.pk))
        counts.append(len(queries))
    assert counts[1] == counts[2]


def test_each_part_of_each_file_is_told_of_and_its_name_is_masked_as_all_content(
    user: User, staff: StaffReader
) -> None:
    file = make_file(user, parts=["CANARY text of the file"], name="CANARY.pdf", state="ready")
    thread = make_thread(user, message_count=1, last_position=1)
    [question] = chain(thread, ["What does it say?"])
    naming = {"type": "file", "file": str(file.id), "name": file.name}
    question.content = [naming, *text_blocks("What does it say?")]
    question.save(force_insert=True)
    snapshot = make_snapshot(thread)
    page = staff.get(page_url("contextsnapshot", snapshot.pk)).text
    what, *fate = cells(page)
    assert (what, fate[:3]) == (f"masked 1 part, {file.id}", ["1", "given the whole file", "1"])
    assert "CANARY" not in page
    assert cells(staff.read(page_url("contextsnapshot", snapshot.pk)).text)[0].startswith("CANARY.pdf 1 part")


def test_what_the_reply_cites_is_told_with_what_is_wrong_and_masked_as_all_content(
    user: User, staff: StaffReader
) -> None:
    file = make_file(user, parts=["CANARY text of the file"], name="CANARY.pdf", state="ready")
    thread = make_thread(user, message_count=1, last_position=1)
    [question] = chain(thread, ["What does it say?"])
    question.content = [{"type": "file", "file": str(file.id), "name": file.name}, *text_blocks("What does it say?")]
    question.save(force_insert=True)
    snapshot = make_snapshot(thread)
    [_, answer] = chain(thread, ["What does it say?", "Text [CANARY.pdf, section 1], [CANARY.pdf, p. 9]."])
    answer.reply, answer.parent = snapshot.reply, question
    answer.citations = [
        {"text": text, "file": str(file.id), "name": file.name, "part": part, "given": bool(part)}
        for text, part in (("[CANARY.pdf, section 1]", 1), ("[CANARY.pdf, p. 9]", None))
    ]
    answer.save(force_insert=True)
    page = staff.get(page_url("contextsnapshot", snapshot.pk)).text
    assert "CANARY" not in page
    assert cited_in(page) == [f"masked part 1 of {file.id}", "masked There is no such part."]
    opened = staff.read(page_url("contextsnapshot", snapshot.pk)).text
    assert cited_in(opened)[0] == f"[CANARY.pdf, section 1] part 1 of {file.id}"


def cited_in(page: str) -> list[str]:
    [listed] = re.findall(r"Cited by the reply</h3>(.*?)</ul>", page, re.S)
    return [" ".join(re.sub(r"<[^>]+>", " ", row).split()) for row in re.findall(r"<li>(.*?)</li>", listed, re.S)]


def cells(page: str) -> list[str]:
    """Of the table of files, without its heads."""
    [table] = re.findall(r'<section class="module" aria-labelledby="files">.*?<tbody>(.*?)</tbody>', page, re.S)
    found = re.findall(r"<t[hd][^>]*>(.*?)</t[hd]>", table, re.S)
    return [" ".join(re.sub(r"<[^>]+>", " ", cell).split()) for cell in found]
