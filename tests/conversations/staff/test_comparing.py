"""Two model requests side by side, one beside what it might have been, and the proof of one."""

import hashlib
import html
import re
from typing import Any

import pytest
from django.apps import apps
from django.contrib.auth.models import User
from django.db import connection
from django.test.utils import CaptureQueriesContext
from django.utils import timezone
from hypothesis import given
from hypothesis import strategies as st

from conversations.accounts.instructions import instruct
from conversations.context.record import snapshots
from conversations.models import Assistant, ContentAccess, ContextSnapshot, Message, Thread
from conversations.staff.compare.text_diff import diffed
from conversations.staff.compare.what_if_page import fitting
from memory import forgetting
from tests.conversations.factories import chain, make_context, make_reply, make_snapshot, make_thread
from tests.conversations.staff.conftest import SignIn, StaffReader, list_url, page_url
from tests.html import as_read
from tests.memory.factories import make_memory, make_thread_summary

NEEDLE = "xylophone"
PAGES = ["compare", "what_if", "prove"]

words = st.lists(st.sampled_from(["red", "green", " ", "\n", "blue", "!"]), max_size=12).map("".join)


@given(words, words)
def test_a_difference_holds_both_texts(before: str, after: str) -> None:
    pieces = diffed(before, after)
    assert "".join(piece.text for piece in pieces if piece.kind != "ins") == before
    assert "".join(piece.text for piece in pieces if piece.kind != "del") == after


def say_more(thread: Thread, *texts: str) -> None:
    known = list(thread.messages.order_by("position"))
    made = chain(thread, [*(turn.text for turn in known), *texts])[len(known) :]
    made[0].parent_id = known[-1].id
    Message.objects.bulk_create(made)


def two_requests(user: User | None = None, *, more: int = 1) -> tuple[ContextSnapshot, ContextSnapshot]:
    """Of one thread, with a memory that came in between; the second was given fewer of the oldest turns."""
    thread = make_thread(user, [f"The {NEEDLE} is mine.", "Noted.", "Is it old?"])
    make_memory(thread.user, f"They own a {NEEDLE} of wood.")
    first = make_snapshot(thread)
    make_memory(thread.user, f"Their {NEEDLE} is red.")
    say_more(thread, *["It is.", "What else?"] * more)
    Assistant.objects.update(history_turns_max=2, history_turns_min=2)
    for part in range(1, more + 1):
        make_thread_summary(thread, timezone.now(), first_position=part, last_position=part)
    thread.assistant.refresh_from_db()
    second = make_snapshot(Thread.objects.get(pk=thread.pk))
    return first, second


@pytest.mark.django_db
def test_a_request_is_compared_with_the_one_before_it(staff: StaffReader) -> None:
    first, second = two_requests()
    text = as_read(staff.read(page_url("contextsnapshot", second.pk, "compare")).text)
    [verdict] = re.findall(r'<p class="ob-verdict">(.*?)</p>', text)
    difference = f"{second.total_tokens - first.total_tokens:+,}".replace("-", "−")
    changes, size, cached = verdict.split("; ")
    assert changes == "2 turns came in, 2 turns dropped out, 1 of these summarised by now, " + (
        "Memory was rewritten, Recalled for the message was added, Contextualised query was dropped"
    )
    assert size == f"{first.total_tokens:,} → {second.total_tokens:,} tokens ({difference})"
    assert re.fullmatch(r"\d+ in common from the beginning, \d+ anew", cached)
    assert "It breaks at “Memory” (system block 2)" in text
    assert "<ins>" in text and "<del>" not in text
    assert f"/{first.pk}/compare/?with={second.pk}" in text


@pytest.mark.django_db
def test_what_people_wrote_is_masked_until_a_reason_is_stated(staff: StaffReader) -> None:
    _, second = two_requests()
    urls = {
        "comparison": page_url("contextsnapshot", second.pk, "compare"),
        "what if": page_url("contextsnapshot", second.pk, "what_if") + "?history_turns_max=9&memory=now",
    }
    for what, url in urls.items():
        masked = staff.get(url).text
        assert NEEDLE not in masked and "masked" in masked
        assert not ContentAccess.objects.filter(what=what).exists()
    for what, url in urls.items():
        assert NEEDLE in staff.read(url).text
        assert ContentAccess.objects.filter(what=what, object_id=str(second.pk)).count() == 1


@pytest.mark.django_db
def test_of_two_people_each_one_is_read_for_a_reason_of_its_own(staff: StaffReader) -> None:
    theirs = make_snapshot(make_thread(turns=["The hurdy-gurdy is mine."]))
    staff.opened()  # for whom there is so far
    mine = make_snapshot(make_thread(turns=[f"The {NEEDLE} is mine."]))
    url = page_url("contextsnapshot", mine.pk, "compare") + f"?with={theirs.pk}"
    text = staff.get(url).text
    assert "hurdy-gurdy" in text and NEEDLE not in text
    assert set(ContentAccess.objects.values_list("object_id", "user_id")) == {(str(theirs.pk), theirs.thread.user_id)}
    assert NEEDLE in staff.read(url).text


@pytest.mark.django_db
def test_the_first_request_and_an_unknown_one_say_what_to_do(staff: StaffReader) -> None:
    snapshot = make_snapshot(make_thread(turns=["Hello?"]))
    url = page_url("contextsnapshot", snapshot.pk, "compare")
    assert "It is the first request of its thread" in staff.read(url).text
    assert "No model request has this id" in staff.read(f"{url}?with=nonsense").text
    assert "No difference: the same request" in staff.read(f"{url}?with={snapshot.pk}").text


@pytest.mark.django_db
def test_two_requests_are_chosen_in_the_list(staff: StaffReader) -> None:
    first, second = two_requests()

    def choose(*chosen: ContextSnapshot) -> Any:
        values = {"action": "compare_selected", "_selected_action": [str(one.pk) for one in chosen]}
        return staff.post(list_url("contextsnapshot"), values, follow=True)

    assert choose(second, first).redirect_chain == [
        (page_url("contextsnapshot", second.pk, "compare") + f"?with={first.pk}", 302)
    ]
    assert "Choose exactly two requests" in choose(first).text


@pytest.mark.django_db
@pytest.mark.parametrize("page", PAGES)
def test_who_may_see_requests_may_compare_them_without_their_content(page: str, signed_in: SignIn) -> None:
    _, second = two_requests()
    url = page_url("contextsnapshot", second.pk, page)
    assert signed_in("view_thread", "read_content").get(url).status_code == 403
    response = signed_in("view_contextsnapshot").get(url + "?history_turns_max=9")
    assert response.status_code == 200 and NEEDLE not in response.text
    assert not ContentAccess.objects.exists()


@pytest.mark.django_db
@pytest.mark.parametrize(("page", "asked"), [("compare", ""), ("what_if", "?history_turns_max=9&history_turns_min=3")])
def test_the_number_of_queries_does_not_grow(staff: StaffReader, page: str, asked: str) -> None:
    counts = []
    for more in (1, 3):
        _, second = two_requests(more=more)
        staff.opened()
        with CaptureQueriesContext(connection) as queries:
            assert staff.get(page_url("contextsnapshot", second.pk, page) + asked).status_code == 200
        counts.append(len(queries))
    assert counts[0] == counts[1] <= 22


@pytest.mark.django_db
def test_to_ask_what_would_have_been_writes_nothing_but_that_somebody_looked(staff: StaffReader) -> None:
    _, second = two_requests()
    make_memory(second.thread.user, "They moved to Rome.")
    staff.opened()
    before = rows()
    asked = "?total_tokens=900&history_tokens_high=600&history_tokens_low=300&memory=now&query=rules&filtering=off"
    text = staff.get(page_url("contextsnapshot", second.pk, "what_if") + asked).text
    assert "tokens (" in text and "memory as it is now" in text
    after = rows()
    assert after.pop("conversations.contentaccess") == before.pop("conversations.contentaccess") + 1
    assert after.pop("conversations.auditevent") == before.pop("conversations.auditevent") + 1
    assert after == before


def rows() -> dict[str, int]:
    return {model._meta.label_lower: model._default_manager.count() for model in apps.get_models()}


@pytest.mark.django_db
def test_with_the_settings_that_it_had_a_request_is_what_it_was(staff: StaffReader) -> None:
    _, second = two_requests()
    instruct(second.thread.user, about="Written since then.")
    url = page_url("contextsnapshot", second.pk, "what_if")
    text = staff.read(f"{url}?total_tokens={second.budget}").text
    assert "byte for byte" in text and "No difference: the same request" in text
    wrong = staff.read(f"{url}?history_tokens_low=3000&history_tokens_high=200").text
    assert "These figures contradict one another." in wrong and "ob-verdict" not in wrong
    assert "“History, at most” raised to 3,000" in wrong


@pytest.mark.django_db
def test_figures_that_contradict_one_another_are_mended_by_a_click(staff: StaffReader) -> None:
    _, second = two_requests()
    url = page_url("contextsnapshot", second.pk, "what_if")
    wrong = staff.read(f"{url}?history_tokens_high=900000&history_turns_max=2&memory=now").text
    [link] = re.findall(r'href="(\?[^"]*)">Set them so', wrong)
    assert "memory=now" in link
    mended = staff.read(f"{url}{html.unescape(link)}").text
    assert "contradict" not in mended and "ob-verdict" in mended


@given(st.lists(st.integers(0, 50), min_size=4, max_size=4), st.sets(st.sampled_from("abcd")))
def test_figures_that_fit_ascend_and_keep_what_was_asked_for(figures: list[int], fixed: set[str]) -> None:
    was = {
        name: figure if name in fixed else place * 10
        for place, (name, figure) in enumerate(zip("abcd", figures, strict=True))
    }
    mended = fitting(was, fixed)
    assert [*mended.values()] == sorted(mended.values())
    asked = [was[name] for name in "abcd" if name in fixed]
    assert asked != sorted(asked) or all(mended[name] == was[name] for name in fixed)
    assert list(was.values()) != sorted(was.values()) or mended == was


@pytest.mark.django_db
def test_another_assistant_brings_its_prompt_of_today(staff: StaffReader) -> None:
    _, second = two_requests()
    analyst = Assistant.objects.get(slug="analyst")
    text = staff.read(page_url("contextsnapshot", second.pk, "what_if") + f"?assistant={analyst.pk}").text
    assert "System prompt was rewritten" in text and "the assistant as it is today" in text


@pytest.mark.django_db
def test_a_proof_is_the_digest_of_what_anybody_can_download(staff: StaffReader) -> None:
    reply = make_reply(make_thread(turns=[f"The {NEEDLE} is mine."]))
    snapshot = make_snapshot(reply=reply)
    content = staff.read(page_url("contextsnapshot", snapshot.pk, "request")).content
    url = page_url("contextsnapshot", snapshot.pk, "prove")
    text = staff.get(url).text
    assert "Proven ✓" in text and NEEDLE not in text
    assert text.count(hashlib.sha256(content).hexdigest()) == 3 and f"{len(content):,} bytes" in text
    forged = snapshots.of_reply(make_context(reply), reply, round=2)
    forged.digest = bytes(32)
    forged.save(force_insert=True)
    assert "Not proven ✗" in staff.get(page_url("contextsnapshot", forged.pk, "prove")).text


@pytest.mark.django_db
def test_what_was_forgotten_can_neither_be_proven_nor_made_again(staff: StaffReader) -> None:
    snapshot = make_snapshot(reply=make_reply(make_thread(turns=["I live in Rome.", "Noted.", "And now?"])))
    forgetting.forget_turn(snapshot.thread.user, snapshot.thread.messages.get(position=1).id)
    assert "has been forgotten since" in staff.read(page_url("contextsnapshot", snapshot.pk, "prove")).text
    assert "can’t be made again" in staff.read(page_url("contextsnapshot", snapshot.pk, "what_if")).text
