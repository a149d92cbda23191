"""The search of the chat's sidebar without a script: what it finds is on the page."""

import re
from html import unescape

import pytest
from django.contrib.auth.models import User
from django.test import Client

from tests.conversations.factories import make_thread, make_thread_with_file
from tests.html import as_read

pytestmark = pytest.mark.django_db
TAG = re.compile(r"<(?!/?mark)[^>]+>\s*")


def search_results(user: User, words: str) -> tuple[str, list[tuple[str, str]]]:
    """What the page says of the search, and the address and words of each place."""
    browser = Client()
    browser.force_login(user)
    page = as_read(browser.get("/", {"q": words}).text)
    [state] = re.findall(r'id="found-state" role="status">(.*?)</p>', page)
    places = re.findall(r'<a class="hit" href="(.*?)">(.*?)</a>', page, re.DOTALL)
    return unescape(state), [(address, re.sub(r"\s+", " ", TAG.sub("|", place)).strip()) for address, place in places]


def test_threads_are_found_without_a_script_by_title_and_by_what_was_said(user: User, other_user: User) -> None:
    said = make_thread(user, ["Hello", "Hi", "Two <b>boats</b> & no shed"], title="<i>Greece</i>")
    titled = make_thread(user, ["Where?"], title="A boat")
    make_thread(other_user, ["boat"], title="boat")
    state, places = search_results(user, "boat")
    day = said.messages.get(position=3).created_at
    assert state == "Found in 2 conversations"
    assert sorted(places) == sorted(
        [
            (f"/threads/{titled.id}/", "|A boat|"),
            (
                f"/threads/{said.id}/#turn-3",
                "|&lt;i&gt;Greece&lt;/i&gt;||Two &lt;b&gt;<mark>boats</mark>&lt;/b&gt; &amp; no shed|"
                f"|You, {day:%-d %B %Y}, turn 3|",
            ),
        ]
    )


def test_a_place_in_a_file_stands_beside_that_in_a_turn(user: User) -> None:
    thread, file = make_thread_with_file(user, ["Two <b>boats</b>."], turns=["A boat?", "Yes."], name="a<b>.pdf")
    day = f"{file.created_at:%-d %B %Y}"
    assert search_results(user, "boats") == (
        "Found in 1 conversation",
        [
            (f"/threads/{thread.id}/#turn-1", f"|New conversation||A <mark>boat</mark>?||You, {day}, turn 1|"),
            (
                f"/threads/{thread.id}/#turn-1",
                f"|Two &lt;b&gt;<mark>boats</mark>&lt;/b&gt;.||a&lt;b&gt;.pdf, section 1, {day}, turn 1|",
            ),
        ],
    )


@pytest.mark.parametrize("words", ["xyzzy", "\0", "%", "x" * 5_000])
def test_a_search_that_finds_nothing_says_so(user: User, words: str) -> None:
    make_thread(user, ["boat"], title="boat")
    assert search_results(user, words) == (
        "Nothing was found. All of the words must stand in one title, one message or one part of a file.",
        [],
    )
