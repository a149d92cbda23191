"""Staff bring a service of their own to an assistant, in a real browser: added, tested, its models ticked and offered."""

from typing import Any

import pytest
from playwright.sync_api import Page, expect
from pytest_django import Settings
from pytest_django.live_server_helper import LiveServer

from conversations.models import Assistant, Connection
from conversations.providers import connection_trial
from tests.browser.accessibility import violations
from tests.chat_server import KINDS, ChatServer
from tests.chat_server import scripts as chat
from tests.conversations.connections import CANARY, make_connection
from tests.conversations.staff.conftest import StaffReader, list_url, page_url
from tests.conversations.staff.test_browser import SIZES, Staff, signed_in_at
from tests.model_scripts import Stall, stream

pytestmark = [pytest.mark.django_db(transaction=True), pytest.mark.usefixtures("_sdk", "opened"), pytest.mark.wide]

STATE = "section.ob-connection"


@pytest.fixture
def service(chat_server: ChatServer) -> ChatServer:
    chat_server.kind = KINDS["vllm"]
    chat_server.api_key = CANARY
    chat_server.models = ["qwen3-8b", "text-embedding-small"]
    chat_server.told = {"qwen3-8b": {"max_model_len": 16_384}}
    chat_server.say(lambda body: chat.answer("Yes."))
    return chat_server


def is_well(at: Staff) -> bool:
    """Whether the page fits both sizes, and everybody can use it."""
    return [at.sideways(*size) for size in SIZES] == [0, 0] and violations(at.page) == []


def press(page: Page, name: str) -> None:
    page.get_by_role("button", name=name, exact=True).click()


def test_a_service_is_added_tried_and_offered(
    chromium_path: str, staff: StaffReader, live_server: LiveServer, service: ChatServer
) -> None:
    companion = page_url("assistant", Assistant.objects.get(slug="companion").pk)
    with signed_in_at(chromium_path, live_server, staff.opened()) as at:
        page = at.page
        at.open(list_url("connection") + "add/")
        assert is_well(at)
        page.get_by_label("Label:").press_sequentially("Our vLLM")
        expect(page.get_by_label("Slug:")).to_have_value("our-vllm")
        page.get_by_label("Kind:").select_option("openai")
        page.get_by_label("Address:").fill(service.base_url)
        page.get_by_label("Key:", exact=True).fill(CANARY)
        press(page, "Save")
        expect(page.locator(STATE)).to_contain_text("Not tested as it is now")
        assert CANARY not in page.content()
        press(page, "Test it")
        expect(page.locator(STATE)).to_contain_text("It answers")
        expect(page.locator(".messagelist")).to_contain_text("with qwen3-8b")
        assert CANARY not in page.content() and is_well(at)
        press(page, "See its models")
        row = page.get_by_role("row").filter(has_text="qwen3-8b")
        expect(row).to_contain_text("16,384")
        assert is_well(at)
        row.get_by_role("checkbox").check()
        press(page, "Add those ticked")
        expect(page.locator(".messagelist")).to_contain_text("Added qwen3-8b.")
        expect(page.locator(STATE)).to_contain_text("1 in the table")
        at.open(companion)
        page.get_by_label("qwen3-8b, our-vllm").check()
        page.get_by_role("button", name="Add another Fallback").click()
        page.locator("#id_fallbacks-0-provider").select_option("our-vllm")
        page.locator("#id_fallbacks-0-model").fill("qwen3-8b")
        assert is_well(at)
        press(page, "Save and continue editing")
        expect(page.locator(".messagelist")).to_contain_text("was changed successfully")
        expect(page.locator("#id_fallbacks-0-provider")).to_have_value("our-vllm")
    assistant = Assistant.objects.get(slug="companion")
    assert [*assistant.fallbacks.values_list("provider", "model")] == [("our-vllm", "qwen3-8b")]
    assert [*assistant.offered_models.values_list("provider", "name", "context_window")] == [
        ("our-vllm", "qwen3-8b", 16_384)
    ]


OUTCOMES: dict[str, tuple[Any, str]] = {
    "refused key": (chat.error(401), "The service refused the key."),
    "silence": (stream(Stall()), "Timed out: connected, but there was no answer within 0.5 s."),
}
"""Others are tried without a browser in ``tests/conversations/providers/test_connections.py``."""


def test_an_outcome_of_a_test_is_told_in_words(
    chromium_path: str,
    staff: StaffReader,
    live_server: LiveServer,
    service: ChatServer,
    settings: Settings,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(connection_trial, "SECONDS", 0.5)
    monkeypatch.setattr("conversations.providers.http_provider.BACKOFF_SECONDS", (0.01, 0.01))
    row = Connection.objects.create(slug="ours", label="Ours", kind="openai", base_url=service.base_url)
    told = {}
    with signed_in_at(chromium_path, live_server, staff.opened()) as at:
        at.open(page_url("connection", row.pk))

        def test() -> str:
            press(at.page, "Test it")
            expect(at.page.locator(f"{STATE} h2")).to_have_text("It does not answer ✗")
            return at.page.locator(f"{STATE} p").first.inner_text()

        for name, (answer, _) in OUTCOMES.items():
            service.listing, service.api_key = answer, ""
            told[name] = test()
        settings.OPENBOOK_INNER_NETWORKS = ()
        assert "is in an inner network, and OPENBOOK_INNER_NETWORKS does not name it" in test()
        assert is_well(at)
        at.open(list_url("connection"))
        assert is_well(at)
    assert {name: words in told[name] for name, (_, words) in OUTCOMES.items()} == dict.fromkeys(OUTCOMES, True), told


def test_what_is_assumed_of_a_model_without_a_row_stands_beside_it(
    chromium_path: str, staff: StaffReader, live_server: LiveServer, service: ChatServer
) -> None:
    make_connection(service.base_url, slug="ours", kind="openai")
    Assistant.objects.filter(slug="companion").update(provider="ours", model="text-embedding-small")
    companion = page_url("assistant", Assistant.objects.get(slug="companion").pk)
    with signed_in_at(chromium_path, live_server, staff.opened()) as at:
        at.open(companion)
        expect(at.page.locator("fieldset.module > .field-model").first).to_contain_text(
            "a window of 4,096 tokens, which is assumed"
        )
        at.page.locator("#id_model").fill("qwen3-8b")
        press(at.page, "Save and continue editing")
        expect(at.page.locator(".messagelist")).to_contain_text("16,384 tokens, as its service tells,")
        assert is_well(at)
