"""Another memory service is kept up with PostgreSQL, whatever breaks off in between; what is forgotten is deleted there too."""

import uuid
from concurrent.futures import ThreadPoolExecutor

import pytest
from django.contrib.auth.models import User
from django.db import connection
from django.utils import timezone

from memory.backends.base import BackendError
from memory.backends.mirroring import mirror, mirror_due
from memory.models import Memory, MirroredMemory
from memory.tags import thread_tag
from tests.memory.factories import make_memory, make_preferences
from tests.memory_server import MemoryServer, answer
from tests.model_scripts import BrokenStream, Gate, Raw, ScriptedStream

pytestmark = pytest.mark.django_db(transaction=True)

BROKEN_OFF = ScriptedStream(steps=(Raw(b"{"), BrokenStream()))


def texts(service: MemoryServer) -> dict[str, str]:
    return {id: document["content"] for (_, id), document in service.documents.items()}


def calls(service: MemoryServer) -> list[str]:
    return [request.method for request in service.requests]


def test_by_default_nothing_is_mirrored(user: User) -> None:
    make_memory(user)
    assert (mirror_due(), mirror(user.pk), MirroredMemory.objects.count()) == ([], 0, 0)


def test_what_is_new_changed_and_gone_is_told_once(user: User, other_user: User, memory_service: MemoryServer) -> None:
    thread = uuid.uuid4()
    kept, changed = make_memory(user, "Ada sails."), make_memory(user, "Ada lives in Hamburg.")
    confined = make_memory(user, "The code word is heron.", tags=[thread_tag(thread)])
    gone, ended = make_memory(user, "Ada smokes."), make_memory(user, "Ada rents.")
    others = make_memory(other_user, "Bob fishes.")
    assert (mirror_due(), mirror(user.pk), mirror(other_user.pk), mirror_due()) == ([user.pk, other_user.pk], 5, 1, [])
    assert memory_service.documents == {
        (f"openbook_user_{owner.pk}", str(memory.pk)): {
            "content": memory.content,
            "metadata": {"memory": str(memory.pk), "container": container},
        }
        for owner, memory, container in [
            (user, kept, f"user:{user.pk}"),
            (user, changed, f"user:{user.pk}"),
            (user, confined, f"thread:{thread}"),
            (user, gone, f"user:{user.pk}"),
            (user, ended, f"user:{user.pk}"),
            (other_user, others, f"user:{other_user.pk}"),
        ]
    }

    Memory.objects.filter(pk=changed.pk).update(content="Ada lives in Porto.")
    Memory.objects.filter(pk=ended.pk).update(ended_at=timezone.now())
    gone.delete()
    memory_service.requests.clear()
    assert (mirror_due(), mirror(user.pk), mirror(user.pk), mirror_due()) == ([user.pk], 3, 0, [])
    assert calls(memory_service) == ["DELETE", "PATCH"]
    assert texts(memory_service) == {
        str(kept.pk): "Ada sails.",
        str(changed.pk): "Ada lives in Porto.",
        str(confined.pk): "The code word is heron.",
        str(others.pk): "Bob fishes.",
    }


def test_all_is_deleted_with_the_user(user: User, memory_service: MemoryServer) -> None:
    make_memory(user)
    id = user.pk
    mirror(id)
    user.delete()
    assert (mirror_due(), mirror(id), memory_service.documents, mirror_due()) == ([id], 1, {}, [])


def test_who_wants_nothing_remembered_sends_nothing_and_still_forgets(user: User, memory_service: MemoryServer) -> None:
    sent = make_memory(user, "Ada sails.")
    mirror(user.pk)
    make_preferences(user, remembers=False)
    make_memory(user, "Ada rows.")
    assert (mirror_due(), texts(memory_service)) == ([], {str(sent.pk): "Ada sails."})
    sent.delete()
    assert (mirror_due(), mirror(user.pk), memory_service.documents, mirror_due()) == ([user.pk], 1, {}, [])


@pytest.mark.parametrize("arrived", [True, False])
def test_what_may_have_arrived_is_replaced_and_never_doubled(
    user: User, memory_service: MemoryServer, arrived: bool
) -> None:
    """The answer to an upload was lost, and meanwhile the text has changed: adding it again would append."""
    memory = make_memory(user, "Ada lives in Hamburg.")
    memory_service.script(BROKEN_OFF)
    with pytest.raises(BackendError):
        mirror(user.pk)
    if arrived:
        place = (f"openbook_user_{user.pk}", str(memory.pk))
        memory_service.documents[place] = {"content": memory.content, "metadata": {}}
    Memory.objects.update(content="Ada lives in Porto.")
    mirror(user.pk)
    assert texts(memory_service) == {str(memory.pk): "Ada lives in Porto."}


def test_what_may_have_arrived_is_deleted_when_it_is_forgotten(user: User, memory_service: MemoryServer) -> None:
    memory = make_memory(user)
    memory_service.script(BROKEN_OFF)
    with pytest.raises(BackendError):
        mirror(user.pk)
    memory.delete()
    mirror(user.pk)
    assert (calls(memory_service), mirror_due()) == (["POST", "DELETE", "GET"], [])


@pytest.mark.parametrize(
    "failure",
    [
        answer({"error": "down"}, status=500),
        answer({"error": "no"}, status=401),
        answer({"count": 0}),
        answer("deleted"),
        BROKEN_OFF,
    ],
)
def test_forgetting_is_tried_again_until_it_is_certain(
    user: User, memory_service: MemoryServer, failure: ScriptedStream
) -> None:
    memory = make_memory(user)
    mirror(user.pk)
    memory.delete()
    memory_service.script(failure)
    with pytest.raises(BackendError):
        mirror(user.pk)
    assert (mirror_due(), len(memory_service.documents)) == ([user.pk], 1)
    assert (mirror(user.pk), memory_service.documents, mirror_due()) == (1, {}, [])


def test_a_fact_that_is_still_there_is_not_taken_for_deleted_and_holds_up_no_other(
    user: User, memory_service: MemoryServer
) -> None:
    memory = make_memory(user)
    mirror(user.pk)
    memory.delete()
    id = str(memory_service.requests[0].body["id"])
    new = make_memory(user, "Ada rows.")
    memory_service.script(answer({"count": 0, "errors": [{"id": id, "error": "Document is being processed"}]}))
    with pytest.raises(BackendError, match="1 of the facts could not be deleted yet"):
        mirror(user.pk)
    assert (texts(memory_service)[str(new.pk)], mirror_due()) == ("Ada rows.", [user.pk])
    assert (mirror(user.pk), [*texts(memory_service)], mirror_due()) == (1, [str(new.pk)], [])


def test_a_fact_that_it_will_not_take_holds_up_no_other(user: User, memory_service: MemoryServer) -> None:
    make_memory(user, "Ada sails.")
    refused = make_memory(user, "Ada rows.")  # the newest goes first
    memory_service.script(answer({"error": "too odd"}, status=400))
    assert (mirror(user.pk), mirror_due()) == (2, [])
    assert [*texts(memory_service).values()] == ["Ada sails."]
    Memory.objects.filter(pk=refused.pk).update(content="Ada rows a lot.")
    mirror(user.pk)
    assert sorted(texts(memory_service).values()) == ["Ada rows a lot.", "Ada sails."]


def test_two_at_once_do_not_send_again_what_was_just_deleted(user: User, memory_service: MemoryServer) -> None:
    memory, gate = make_memory(user), Gate()
    memory_service.script(ScriptedStream(steps=(gate, Raw(b'{"id": "doc", "status": "queued"}'))))
    with ThreadPoolExecutor(1) as elsewhere:
        sending = elsewhere.submit(in_a_connection_of_its_own, user.pk)
        gate.wait_until_reached()
        memory.delete()
        assert (mirror(user.pk), mirror_due()) == (0, [user.pk])
        gate.open()
        assert sending.result(10) == 1
    assert (mirror(user.pk), calls(memory_service), mirror_due()) == (1, ["POST", "DELETE", "GET"], [])


def in_a_connection_of_its_own(user_id: int) -> int:
    try:
        return mirror(user_id)
    finally:
        connection.close()
