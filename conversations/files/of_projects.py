"""Which project a file is of: uploaded to it, or moved into it."""

from django.db import transaction

from conversations.errors import FileElsewhere, ProjectNotFound, TooManyFiles
from conversations.holds import custody
from conversations.models import File, Project
from conversations.runtime.wording import worded

MOST_FILES = 1_000
"""Of one project."""


def refuse_unless_place(project: Project) -> None:
    """In a transaction, which whoever adds to the project meanwhile waits for. Raises ``TooManyFiles``, ``ProjectNotFound``."""
    own = Project.objects.select_for_update(no_key=True).filter(user=project.user_id, id=project.id)
    if not own.exists():
        raise ProjectNotFound
    if File.objects.filter(user=project.user_id, project=project).count() >= MOST_FILES:
        raise TooManyFiles(
            worded("A project has at most {most} files. Delete one first.", most=MOST_FILES), limit=MOST_FILES
        )


@transaction.atomic
def move(file: File, project: Project) -> None:
    """Into a project, from another one or from none. Raises ``FileElsewhere`` for one that messages of a thread brought,
    ``TooManyFiles``."""
    if file.thread_id:
        raise FileElsewhere("This file is in a conversation. Upload it to the project.", file=str(file.id))
    if project.id != file.project_id:
        refuse_unless_place(project)
        if file.project_id:  # a hold on that project would not know it any more
            custody.keep_files(file.user_id, File.objects.filter(user=file.user_id, id=file.id))
    File.objects.filter(user=file.user_id, id=file.id, thread=None).update(project=project)
    file.project = project
