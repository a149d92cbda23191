"""The first page of the side bar with 10 threads, and with 10,000 in 200 projects: all that the chat asks for, in server time.

Alone: ``make bench ONLY=thread_list``.
"""

from collections.abc import Callable
from datetime import timedelta

from django.contrib.auth.models import User
from django.db import connection
from django.test import Client
from django.utils import timezone

from conversations.models import Assistant, Project, Thread
from tests.benchmarks.measuring import doing, side_by_side, table

FEW, MANY, PROJECTS = 10, 10_000, 200
CALLS = (
    "projects/?counts=false&page_size=8",
    "threads/?archived=false&pinned=true&page_size=200",
    "threads/?archived=false&pinned=false&project=none&page_size=50",
)
"""As ``conversations/static/conversations/js/thread-groups.js`` asks."""
FEW_NAME, SECONDS = f"{FEW} threads", 30


def main() -> None:
    with doing("writing 10,000 threads"):
        few, many, archived = (person(name) for name in ("few", "many", "archived"))
        fill(few, FEW, projects=0)
        fill(many, MANY, projects=PROJECTS)
        fill(archived, MANY, projects=0, archived=MANY - FEW)
        with connection.cursor() as cursor:
            cursor.execute("ANALYZE conversations_thread, conversations_project")
    asks = {
        FEW_NAME: first_page(few),
        f"{MANY:,} threads in {PROJECTS} projects": first_page(many),
        f"{MANY:,} threads, all but {FEW} of them archived": first_page(archived),
    }
    table("the side bar's first page, 1.5 x at most are wanted", side_by_side(asks, seconds=SECONDS), limit=FEW_NAME)


def person(name: str) -> User:
    return User.objects.create_user(name, password="x")


def fill(user: User, count: int, *, projects: int, archived: int = 0) -> None:
    """Nine in ten in projects where there are any; the newest are archived, so that those listed come last."""
    now, assistant = timezone.now(), Assistant.objects.get(slug="companion")
    made = Project.objects.bulk_create(
        Project(user=user, name=f"Project {number:03}", created_at=now, updated_at=now) for number in range(projects)
    )
    Thread.objects.bulk_create(
        (
            Thread(
                user=user,
                assistant=assistant,
                title=f"Conversation {number} about boats",
                created_at=now,
                updated_at=now - timedelta(minutes=number),
                project=made[number % projects] if projects and number % 10 else None,
                archived=number < archived,
                pinned=number % (count // 5) == 0,
                tags=["boats"] if number % 3 == 0 else [],
            )
            for number in range(count)
        ),
        batch_size=1_000,
    )


def first_page(user: User) -> Callable[[], None]:
    client = Client(SERVER_NAME="localhost")
    client.force_login(user)

    def ask() -> None:
        for call in CALLS:
            assert client.get(f"/api/v1/{call}").status_code == 200

    return ask
