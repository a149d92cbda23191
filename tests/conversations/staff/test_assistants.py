"""Assistants: the only thing of the conversations that staff edit."""

from dataclasses import replace
from typing import Any

import pytest
from django.forms import model_to_dict
from django.test import Client

from conversations.models import Assistant, Model
from conversations.providers import model_catalog
from tests.conversations.factories import make_context, make_reply, make_snapshot, make_thread, record
from tests.conversations.staff.conftest import StaffReader, list_url, page_url

pytestmark = pytest.mark.django_db


def assistant_named(slug: str) -> Assistant:
    return Assistant.objects.get(slug=slug)


def submit(client: Client, assistant: Assistant | None, **changes: Any) -> dict[str, list[str]]:
    """Save the form with these changes. Returns its errors, none where it was saved."""
    list_sizes = {"fallbacks-TOTAL_FORMS": 0, "fallbacks-INITIAL_FORMS": 0}
    values = model_to_dict(assistant or assistant_named("analyst")) | list_sizes | changes
    data = {name: value for name, value in values.items() if value is not False and value is not None}
    url = page_url("assistant", assistant.pk) if assistant else list_url("assistant") + "add/"
    response = client.post(url, data)
    return {} if response.status_code == 302 else dict(response.context["adminform"].form.errors)


def defaults() -> list[str]:
    return [assistant.slug for assistant in Assistant.objects.filter(is_default=True)]


def test_staff_change_what_an_assistant_is_told(staff: StaffReader) -> None:
    assert (
        submit(staff, assistant_named("companion"), system_prompt="Be brief.", model="some-model", provider="offline")
        == {}
    )
    changed = assistant_named("companion")
    assert (changed.system_prompt, changed.model, changed.provider) == ("Be brief.", "some-model", "offline")


def in_the_list(*entries: tuple[int, str, str]) -> dict[str, Any]:
    rows = {
        f"fallbacks-{place}-{name}": value
        for place, entry in enumerate(entries)
        for name, value in zip(("order", "provider", "model"), entry, strict=True)
    }
    return {"fallbacks-TOTAL_FORMS": len(entries), "fallbacks-INITIAL_FORMS": 0} | rows


def test_staff_list_who_is_asked_instead(staff: StaffReader) -> None:
    entries = in_the_list((2, "local", ""), (1, "openai", "gpt-5.2"))
    assert submit(staff, assistant_named("analyst"), **entries) == {}
    kept = [(row.provider, row.model) for row in assistant_named("analyst").fallbacks.all()]
    assert kept == [("openai", "gpt-5.2"), ("local", "")]
    assert "Asked instead" in staff.read(page_url("assistant", assistant_named("analyst").pk)).text


def test_an_entry_of_nobody_or_one_that_is_there_twice_is_refused(staff: StaffReader) -> None:
    for entries in ([(1, "nobody", "")], [(1, "local", ""), (2, "local", "")]):
        data = model_to_dict(assistant_named("analyst")) | in_the_list(*entries)
        data = {name: value for name, value in data.items() if value is not False and value is not None}
        page = staff.post(page_url("assistant", assistant_named("analyst").pk), data)
        assert (page.status_code, assistant_named("analyst").fallbacks.count()) == (200, 0)
        assert "Please correct" in page.content.decode()


def test_a_request_in_place_of_another_model_is_found_and_says_why(staff: StaffReader) -> None:
    plain, reply = make_snapshot(), make_reply()
    instead = replace(make_context(reply), fallback_for="first-model", fallback_cause="overloaded")
    other = record(instead, reply)
    listed = staff.read(list_url("contextsnapshot", fallback="any")).text
    assert (str(other.pk) in listed, str(plain.pk) in listed) == (True, False)
    page = " ".join(staff.read(page_url("contextsnapshot", other.pk)).text.split())
    assert "in place of first-model, which was overloaded" in page
    overview = staff.read("/admin/conversations/contextsnapshot/overview/").text
    assert "in place of another model" in overview


def test_a_new_default_takes_the_mark_from_the_old_one(staff: StaffReader) -> None:
    assert submit(staff, assistant_named("analyst"), is_default=True) == {}
    assert defaults() == ["analyst"]


def test_an_added_assistant_can_be_the_default_at_once(staff: StaffReader) -> None:
    assert submit(staff, None, slug="new", name="New", is_default=True) == {}
    assert defaults() == ["new"]


def test_the_last_default_keeps_its_mark(staff: StaffReader) -> None:
    errors = submit(staff, assistant_named("companion"), is_default=False)
    assert errors == {"is_default": ["One assistant must be the default: mark another one instead."]}
    assert defaults() == ["companion"]


def test_the_default_stays_active(staff: StaffReader) -> None:
    errors = submit(staff, assistant_named("companion"), is_active=False)
    words = "The default assistant can't be inactive: make another one the default first."
    assert errors == {"is_active": [words]}


def test_another_assistant_can_be_deactivated(staff: StaffReader) -> None:
    assert submit(staff, assistant_named("analyst"), is_active=False) == {}
    assert assistant_named("analyst").is_active is False


def test_budgets_out_of_order_are_explained(staff: StaffReader) -> None:
    errors = submit(staff, assistant_named("companion"), total_tokens=100)
    assert errors == {"__all__": ["Keep low mark ≤ high mark ≤ total ≤ hard cap."]}


def test_staff_say_the_budget_as_a_share_of_the_window(staff: StaffReader) -> None:
    companion = assistant_named("companion")
    Model.objects.create(provider="anthropic", name="small", label="Small", context_window=200_000, max_output=8_000)
    model_catalog.reread()
    assert submit(staff, companion, provider="anthropic", model="small", budget_share=12, thinking_tokens=0) == {}
    companion.offered_models.add(Model.objects.get(name="claude-opus-5-5"), Model.objects.get(provider="local"))
    text = " ".join(staff.read(page_url("assistant", companion.pk)).text.split())
    assert "12 % of 200,000 = 24,000 tokens" in text
    assert "12 % of 1,000,000 = 120,000 tokens" in text
    assert "12 % of 4,608 = 552 tokens" in text
    assert "12 % of 200,000 = 24,000 tokens" in staff.read(list_url("assistant")).text


def test_a_share_that_leaves_no_room_is_refused(staff: StaffReader) -> None:
    Model.objects.create(provider="anthropic", name="small", label="Small", context_window=8_000, max_output=2_048)
    model_catalog.reread()
    changes = {"provider": "anthropic", "model": "small", "thinking_tokens": 0}
    errors = submit(staff, assistant_named("companion"), **changes, budget_share=90)
    assert errors == {
        "budget_share": [
            "Small takes 8,000 tokens, and an answer with its thinking may have 2,048 of them: keep the share to 74 percent."
        ]
    }
    [too_little] = submit(staff, assistant_named("companion"), **changes, budget_share=1)["budget_share"]
    assert too_little.startswith(
        "1 % of 8,000 = 80 tokens of Small: its system prompt and a message of usual length take"
    )


def test_a_window_that_cuts_the_budget_is_told_in_the_list_and_on_the_page(staff: StaffReader) -> None:
    Assistant.objects.filter(slug="companion").update(provider="local")
    for url in (list_url("assistant"), page_url("assistant", assistant_named("companion").pk)):
        assert "cut to 4,096, as an answer may have 512" in staff.read(url).text


def test_staff_choose_the_tools_of_an_assistant(staff: StaffReader) -> None:
    assert submit(staff, assistant_named("companion"), tools=["read_artifact", "search_messages"]) == {}
    assert assistant_named("companion").tools == ["read_artifact", "search_messages"]
    errors = submit(staff, assistant_named("companion"), tools=["launch_missiles"])
    assert errors == {"tools": ["Select a valid choice. launch_missiles is not one of the available choices."]}


def test_staff_tick_the_models_that_people_may_choose(staff: StaffReader) -> None:
    row = Model.objects.get(name="claude-opus-5-5")
    assert submit(staff, assistant_named("companion"), offered_models=[row.pk]) == {}
    assert list(assistant_named("companion").offered_models.all()) == [row]
    Model.objects.filter(pk=row.pk).update(is_active=False)
    assert submit(staff, assistant_named("companion"), offered_models=[row.pk]) == {}
    errors = submit(staff, assistant_named("companion"), offered_models=[0])
    assert errors == {"offered_models": ["Select a valid choice. 0 is not one of the available choices."]}


def test_an_unknown_provider_is_refused(staff: StaffReader) -> None:
    errors = submit(staff, assistant_named("companion"), provider="nobody")
    assert errors == {"provider": ["Select a valid choice. nobody is not one of the available choices."]}


def test_an_assistant_goes_only_while_no_thread_needs_it(staff: StaffReader) -> None:
    def delete(slug: str) -> int:
        return staff.post(page_url("assistant", assistant_named(slug).pk, "delete"), {"post": "yes"}).status_code

    make_thread(assistant=assistant_named("analyst"))
    Assistant.objects.create(slug="unused", name="Unused", system_prompt="Hi.")
    assert [delete(slug) for slug in ("analyst", "companion", "unused")] == [403, 403, 302]
    assert sorted(Assistant.objects.values_list("slug", flat=True)) == ["analyst", "companion"]


def test_no_action_deletes_several_at_once(staff: StaffReader) -> None:
    pks = [str(assistant.pk) for assistant in Assistant.objects.all()]
    staff.post(list_url("assistant"), {"action": "delete_selected", "_selected_action": pks, "post": "yes"})
    assert Assistant.objects.count() == 2
