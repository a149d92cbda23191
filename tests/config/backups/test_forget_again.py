"""After a database was brought back to a moment by other means, what was forgotten since is forgotten again."""

import io
from pathlib import Path

import pytest
from django.contrib.auth.models import User
from django.core.management import CommandError, call_command
from pytest_django import Settings

from conversations.models import Project, Prompt, Thread
from conversations.threads import deletion, prompts
from tests.conversations.factories import make_project, make_prompt, make_thread

pytestmark = pytest.mark.django_db


def forget_again(*arguments: str) -> str:
    output = io.StringIO()
    call_command("forget_again", *arguments, stdout=output)
    return output.getvalue().strip()


def test_what_was_deleted_goes_again_but_for_what_is_to_stay(
    user: User, settings: Settings, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    settings.OPENBOOK_ERASURE_LEDGER = tmp_path / "ledger"
    monkeypatch.setattr("config.management.commands.forget_again.close_pool", bool)  # the tests go on with it
    with pytest.raises(CommandError, match="There is no erasure ledger"):
        forget_again("2026-11-23T14:05:00+00:00")
    threads = [make_thread(user, ["Hello?"]) for _ in range(3)]
    wanted, unwanted, other = (thread.id for thread in threads)
    for thread in threads[:2]:
        deletion.delete_thread(Thread.objects.get(id=thread.id))
    for id in (wanted, unwanted):  # as the database had them at that moment
        make_thread(user, ["Hello?"], id=id)
    assert forget_again("2026-11-23", "--keep", str(wanted)) == "Forgotten again: 1."
    assert set(Thread.objects.values_list("id", flat=True)) == {wanted, other}


def test_a_project_and_a_prompt_go_again_and_what_left_the_project_stays(
    user: User, settings: Settings, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    settings.OPENBOOK_ERASURE_LEDGER = tmp_path / "ledger"
    monkeypatch.setattr("config.management.commands.forget_again.close_pool", bool)
    emptied, deleted = make_project(user, "Zoo"), make_project(user, "Garden")
    kept, gone = make_thread(user, ["Hello?"], project=emptied), make_thread(user, ["Hello?"], project=deleted)
    prompt, other = make_prompt(user, "Be brief."), make_prompt(user, "Be long.")
    for project, threads_go in ((emptied, "keep"), (deleted, "delete")):
        deletion.delete_project(project, threads_go=threads_go)
    prompts.delete(prompts.get_to(user, "delete", prompt.id))
    for project in (emptied, deleted):  # as the database had them at that moment
        project.save(force_insert=True)
    Thread.objects.filter(id=kept.id).update(project=emptied)
    make_thread(user, ["Hello?"], id=gone.id, project=deleted)
    prompt.save(force_insert=True)
    assert forget_again("2026-11-23") == "Forgotten again: 4."
    assert not Project.objects.exists()
    assert [(thread.id, thread.project) for thread in Thread.objects.all()] == [(kept.id, None)]
    assert list(Prompt.objects.values_list("id", flat=True)) == [other.id]


def test_what_is_no_time_is_refused() -> None:
    with pytest.raises(CommandError, match="'yesterday' is no time such as"):
        forget_again("yesterday")
