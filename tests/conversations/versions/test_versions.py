"""Versions of assistants: each change makes one, by whatever way; drafts are published and left again; none changes."""

from html import unescape
from typing import Any

import pytest
from django.contrib.auth.models import Permission
from django.core.exceptions import ValidationError
from django.db import DatabaseError, transaction
from django.test import Client

from artifacts.models import Preset
from conversations import versions
from conversations.models import Assistant, AssistantVersion
from conversations.staff import display
from conversations.staff.assistant_versions import changes_between
from tests.conversations.factories import make_user

pytestmark = pytest.mark.django_db


def make_assistant() -> Assistant:
    assistant = Assistant.objects.create(slug="aide", name="Aide", system_prompt="Be brief.")
    assistant.refresh_from_db()
    return assistant


def numbers(assistant: Assistant) -> list[int]:
    return [each.number for each in versions.versions_of(assistant)]


def number_of(assistant: Assistant) -> int:
    assistant.refresh_from_db()
    assert assistant.version
    return assistant.version.number


def test_each_change_that_shapes_requests_makes_a_version() -> None:
    assistant = make_assistant()
    assert numbers(assistant) == [1]
    stale = Assistant.objects.get(pk=assistant.pk)
    Assistant.objects.filter(pk=assistant.pk).update(name="Helper", order=3)
    assert number_of(assistant) == 1
    Assistant.objects.filter(pk=assistant.pk).update(recall_tokens=100)
    assert number_of(assistant) == 2
    stale.recall_tokens, stale.name = 100, "By an older copy"
    stale.save()
    assert number_of(assistant) == 2
    stale.tools = ["search_files"]
    stale.save()
    assert (number_of(assistant), numbers(assistant)) == (3, [3, 2, 1])
    assert [each.content["recall_tokens"] for each in versions.versions_of(assistant)] == [100, 100, 2_400]


def test_a_draft_shapes_nothing_until_it_is_published_and_can_be_left_again() -> None:
    assistant, author = make_assistant(), make_user("editor")
    draft = versions.make_draft(assistant, {"system_prompt": "Be kind."}, author=author, note="kinder")
    assert (draft.number, draft.published_at, number_of(assistant)) == (2, None, 1)
    versions.publish(draft, author=author)
    assert (number_of(assistant), assistant.system_prompt) == (2, "Be kind.")
    versions.publish(AssistantVersion.objects.get(assistant=assistant, number=1), author=author)
    assert (number_of(assistant), assistant.system_prompt, numbers(assistant)) == (1, "Be brief.", [2, 1])
    with pytest.raises(ValidationError):
        versions.make_draft(assistant, {"history_tokens_low": 9_999}, author=author)
    with pytest.raises(ValidationError):
        versions.make_draft(assistant, {"is_default": True}, author=author)


def test_versions_never_change() -> None:
    version = AssistantVersion.objects.get(assistant=make_assistant())
    AssistantVersion.objects.filter(pk=version.pk).update(note="the first")
    changes: list[dict[str, Any]] = [{"content": {}}, {"number": 9}]
    for change in changes:
        with pytest.raises(DatabaseError), transaction.atomic():
            AssistantVersion.objects.filter(pk=version.pk).update(**change)


def test_staff_draft_see_and_publish_versions_in_the_admin(admin_client: Client) -> None:
    assistant = Assistant.objects.get(is_default=True)
    shipped = number_of(assistant)
    page = display.change_url(Assistant, assistant.pk)
    form = admin_client.get(page).context["adminform"].form
    values = {
        name: value for name, value in form.initial.items() if value is not None and name not in ("tools", "is_active")
    }
    values |= {"is_active": "on", "is_default": "on", "tools": form.initial["tools"], "recall_tokens": 123}
    values |= {"fallbacks-TOTAL_FORMS": 0, "fallbacks-INITIAL_FORMS": 0, "_draft": "Save as draft"}
    values = {name: value for name, value in values.items() if value is not False}
    values["system_prompt"] = values["system_prompt"].replace("\n", "\r\n")  # as browsers do
    versions_page = admin_client.post(page, values, follow=True)
    assert number_of(assistant) == shipped
    text = " ".join(unescape(versions_page.content.decode()).split())
    assert versions_page.redirect_chain == [(f"{page.removesuffix('change/')}versions/", 302)]
    assert "Recall tokens: <del>2400</del> <ins>123</ins>" in text
    assert "System prompt" not in text
    admin_client.post(versions_page.request["PATH_INFO"], {"publish": f"{shipped + 1}"})
    assert (number_of(assistant), assistant.recall_tokens) == (shipped + 1, 123)
    assert admin_client.post(versions_page.request["PATH_INFO"], {"publish": "9"}).status_code == 404
    del values["_draft"]
    admin_client.post(page, values | {"recall_tokens": 200})
    assert (number_of(assistant), assistant.version and str(assistant.version.author)) == (shipped + 2, "admin")


def test_versions_over_rest(client: Client) -> None:
    assistant = make_assistant()
    editor = make_user("editor", is_staff=True)
    path = f"/api/v1/assistants/{assistant.slug}/versions/"
    client.force_login(editor)
    assert client.get(path).status_code == 403
    editor.user_permissions.add(Permission.objects.get(codename="change_assistant"))
    draft = client.post(path, {"content": {"recall_tokens": 5}, "note": "less"}, "application/json").json()
    assert (draft["number"], draft["state"], draft["author"], draft["note"]) == (2, "draft", "editor", "less")
    published = client.post(f"{path}2/publish/", content_type="application/json").json()
    assert (published["state"], published["content"]["recall_tokens"], number_of(assistant)) == ("current", 5, 2)
    states = [(each["number"], each["state"]) for each in client.get(path).json()["results"]]
    assert states == [(2, "current"), (1, "earlier")]
    for content in (
        {"recall_tokens": "many"},
        {"is_default": True},
        {"history_tokens_low": 99_999},
        {"recall_tokens": -1},
    ):
        refused = client.post(path, {"content": content}, "application/json")
        assert (refused.status_code, [*refused.json()["error"]["details"]["fields"]]) == (400, ["content"]), (
            refused.json()
        )
    for missing in (f"{path}9/publish/", f"{path}x/publish/", "/api/v1/assistants/nobody/versions/1/publish/"):
        refused = client.post(missing, content_type="application/json")
        assert (refused.status_code, refused.json()["error"]["code"]) == (404, "assistant_version_not_found")


def test_a_column_that_a_version_lacks_and_an_empty_one_are_no_change() -> None:
    assert changes_between({}, {"cache_lifetime": "", "tools": []}) == []
    assert [change.after for change in changes_between({}, {"cache_lifetime": "1h"})] == ["1h"]


def test_a_changed_preset_is_a_new_version_of_each_assistant_that_offers_it(admin_client: Client) -> None:
    assistant, other = make_assistant(), Assistant.objects.create(slug="other", name="Other", system_prompt="Be long.")
    preset = Preset.objects.create(slug="summary", name="Summary", prompt="Sum it up.")
    page = display.change_url(Preset, preset.pk)
    form = {
        "name": "Summary",
        "slug": "summary",
        "prompt": "Sum it up.",
        "kind": "document",
        "order": 0,
        "is_active": "on",
    }

    def save(**changes: Any) -> None:
        assert admin_client.post(page, form | changes).status_code == 302

    save(assistants=[assistant.pk, other.pk])
    save(assistants=[assistant.pk, other.pk], description="No model reads this.", order=3)
    assert (number_of(assistant), number_of(other)) == (2, 2)
    shown = assistant.preset_values["summary"]
    assert shown == {"name": "Summary", "prompt": "Sum it up.", "kind": "document", "language": ""}
    save(assistants=[assistant.pk, other.pk], prompt="Sum it up briefly.")
    save(assistants=[assistant.pk], prompt="Sum it up briefly.")
    save(assistants=[assistant.pk], prompt="Sum it up briefly.", is_active="")
    assert (number_of(assistant), number_of(other), assistant.preset_values) == (4, 4, {})
    signed = versions.versions_of(assistant).filter(number__gt=1)
    assert {(str(each.author), each.published_at is None) for each in signed} == {("admin", False)}
    versions_page = display.change_url(Assistant, assistant.pk).replace("/change/", "/versions/")
    text = " ".join(unescape(admin_client.get(versions_page).content.decode()).split())
    assert "Preset Summary" in text
    assert "<ins>briefly" in text.replace("<ins > ", "<ins>").replace("<ins >", "<ins>")

    # An earlier version's settings come again, its presets do not.
    first = versions.versions_of(assistant).get(number=3)
    Assistant.objects.filter(pk=assistant.pk).update(recall_tokens=7)
    answer = admin_client.post(versions_page, {"publish": "3"}, follow=True)
    assert "Aide is at version 6" in answer.content.decode()
    assert number_of(assistant) == 6
    assert assistant.version
    assert assistant.version.content == first.content | {"presets": {}}
    assert (str(assistant.version.author), assistant.version.note) == ("admin", "Version 3 with the presets of today")
    with pytest.raises(ValidationError):
        versions.make_draft(assistant, {"presets": first.content["presets"]}, author=None)
    admin_client.post(page, form | {"assistants": [assistant.pk]})
    admin_client.post(page.replace("/change/", "/delete/"), {"post": "yes"})
    assert (number_of(assistant), assistant.preset_values, Preset.objects.filter(slug="summary").exists()) == (
        8,
        {},
        False,
    )
