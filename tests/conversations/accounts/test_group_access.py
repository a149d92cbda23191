"""What groups allow: offered, chosen, and at the call."""

from typing import Any

import pytest
from django.contrib.auth.models import Group, User

from conversations import threads
from conversations.accounts.group_access import ALL, Access, access_by, access_of
from conversations.errors import AssistantNotAllowed, InvalidMessage, ModelNotOffered
from conversations.models import Assistant, GroupAccess, Model
from conversations.replies import model_requests, opening
from conversations.replies.user_content import NewMessage
from conversations.threads import model_choices
from conversations.wire.model_list import model_list
from tests.conversations.accounts.test_allowances import end

pytestmark = [pytest.mark.django_db(transaction=True), pytest.mark.usefixtures("engine")]


def allowed(user: User, name: str, **lists: list[str]) -> GroupAccess:
    group = Group.objects.create(name=name)
    group.user_set.add(user)
    return GroupAccess.objects.create(group=group, **lists)


def send(user: User, thread: Any = None, **values: Any) -> model_requests.OpenedReply:
    return opening.open_turn(
        NewMessage(user=user, thread_id=thread, blocks=[{"type": "text", "text": "Hello"}], **values)
    )


def test_whoever_is_in_several_groups_may_what_any_of_them_allows() -> None:
    empty: list[str] = []
    some, other, every = (["a"], empty, empty, ["x"]), (["b"], ["p/m"], empty, ["y"]), (empty, empty, empty, ["z"])
    assert access_by([]) == ALL
    assert access_by([some, other]) == Access(assistants=frozenset("ab"), tools=frozenset("xy"))
    assert access_by([some, every]) == Access(tools=frozenset("xz"))
    narrow = Access(models=frozenset({"anthropic/claude"}), connections=frozenset({"claude_cli", "own"}))
    asked = [("claude_cli", "claude"), ("anthropic", "claude"), ("own", "claude"), ("claude_cli", "other")]
    assert [narrow.allows_model(*place) for place in asked] == [True, False, False, False]


def test_assistants_models_and_tools_are_offered_chosen_and_used_as_groups_allow(user: User) -> None:
    analyst, companion = (Assistant.objects.get(slug=slug) for slug in ("analyst", "companion"))
    known = send(user, assistant="analyst")
    tools = known.recorded and known.recorded[1].payload.get("tools")
    assert tools
    row = allowed(user, "Interns", assistants=["companion"], tools=["no_tool"])
    access = access_of(user.pk)
    assert list(threads.offered_assistants(access)) == [companion]
    with pytest.raises(InvalidMessage, match="Offered are: companion"):
        send(user, assistant="analyst")
    begun = send(user)
    assert begun.thread.assistant == companion
    assert begun.recorded
    assert not begun.recorded[1].payload.get("tools")
    assert model_list([analyst], access)
    row.models = ["some/model"]
    row.save()
    assert model_list([companion], access_of(user.pk)) == []
    with pytest.raises(ModelNotOffered, match="Choose another assistant"):
        send(user)
    second = allowed(user, "Staff", models=["offline/offline"], tools=[])
    assert send(user).recorded
    Model.objects.filter(provider="offline").update(is_active=True)
    second.delete()
    with pytest.raises(ModelNotOffered):
        model_choices.model_for_thread(companion, "offline", access_of(user.pk))


def test_a_thread_whose_assistant_is_allowed_no_more_says_what_to_do(user: User) -> None:
    opened = send(user, assistant="analyst")
    end(opened)
    allowed(user, "Interns", assistants=["companion"])
    with pytest.raises(AssistantNotAllowed, match="choose another assistant"):
        send(user, opened.thread.id)
    with pytest.raises(AssistantNotAllowed):
        opening.open_retry(user=user, reply_id=opened.reply.id)
    assert threads.messages_of(opened.thread).count() == 2
