"""Who is told that a budget fills up, and who sees what was used of it."""

from datetime import timedelta

import pytest
from django.contrib.auth.models import Permission, User
from django.core import mail
from django.test import Client
from pytest_django import Settings

from config.settings import mailers
from config.worker.loop import OneTask
from conversations.accounts import allowances, budget_warnings, budgets, mailing
from conversations.errors import BudgetExceeded
from conversations.models import AuditEvent, Budget, BudgetPool, GroupManager, OutgoingMail
from conversations.tasks import warn_of_budgets
from conversations.threads import deletion
from tests.conversations.accounts.test_budgets import TRIAL, grouped, priced, reserve, settle
from tests.conversations.accounts.test_mailing import Inbox, later, no_server, smtp_server
from tests.conversations.factories import make_user

pytestmark = pytest.mark.django_db(transaction=True)


def spend(user: User, tokens: int) -> None:
    settle(user, reserve(user, tokens), tokens)


def managed(budget: Budget, name: str = "kim") -> User:
    manager = make_user(name, email=f"{name}@example.org")
    assert budget.group
    GroupManager.objects.create(group=budget.group, user=manager)
    return manager


def test_managers_are_told_once_of_each_level(user: User, settings: Settings) -> None:
    settings.MAILERS = {"default": {"BACKEND": "django.core.mail.backends.locmem.EmailBackend"}}
    budget = grouped("Research", user, tokens_day=1_000, tokens_month=10_000)
    managed(budget)
    found = []
    for tokens in (400, 100, 100, 250):
        spend(user, tokens)
        found.append([(each.period, each.level) for each in budget_warnings.look()])
        assert budget_warnings.look() == []
    assert found == [[], [("day", 50)], [], [("day", 80)]]
    assert budget_warnings.notices(user.pk) == ["80 % of what Research may use today are used."]
    with pytest.raises(BudgetExceeded):
        reserve(user, 500)
    warn_of_budgets.call()
    reached = BudgetPool.objects.get(user=None)
    assert (reached.warned_day, reached.warned_month) == (100, 0)
    event = AuditEvent.objects.get(kind="budget_exceeded")
    assert (event.actor_kind, event.target_kind, event.target_id) == ("system", "conversations.Budget", str(budget.pk))
    assert event.details == {"period": "day", "group": budget.group_id}
    budget_warnings.announce(budget_warnings.LimitReached(budget=budget, period="day", level=100))
    assert mailing.send_due() == 1
    (told,) = mail.outbox
    assert told.to == ["kim@example.org"]
    assert "What Research may use today is used up" in told.body
    BudgetPool.objects.update(day=budgets.today_utc() - timedelta(days=1))
    assert budget_warnings.notices(user.pk) == []
    spend(user, 600)
    assert [(each.period, each.level) for each in budget_warnings.look()] == [("day", 50)]


def run_tasks() -> None:
    """All that wait."""
    while True:
        worker = OneTask("test")
        worker.run()
        if not worker.found:
            break


def test_each_level_is_mailed_once_though_the_mail_server_was_away(user: User, settings: Settings) -> None:
    managed(grouped("Research", user, tokens_day=1_000))
    inbox = Inbox()

    def goes_by(port: int) -> None:
        settings.MAILERS = mailers(f"smtp://127.0.0.1:{port}/?tls=off")

    with no_server() as port:
        goes_by(port)
        for tokens in (550, 300):
            spend(user, tokens)
            for _ in range(2):
                warn_of_budgets.call()
            run_tasks()
            assert mailing.send_due() == 0
        assert [mail.problem for mail in OutgoingMail.objects.order_by("created_at")] == ["ConnectionRefusedError"] * 2
    with smtp_server(inbox) as port, later(minutes=2):
        goes_by(port)
        with pytest.raises(BudgetExceeded):
            reserve(user, 500)
        for _ in range(2):
            warn_of_budgets.call()
        run_tasks()
        assert (mailing.send_due(), mailing.send_due()) == (3, 0)
    assert {to for (to,), *_ in inbox.letters} == {"kim@example.org"}
    words = ["50 % of what Research may use today are used", "80 % of what", "What Research may use today is used up"]
    assert [sum(said in text.replace("=\r\n", "") for _, text, *_ in inbox.letters) for said in words] == [1, 1, 1]


def test_managers_see_names_and_sums_of_their_groups_and_staff_of_all(user: User, client: Client) -> None:
    budget, other = grouped("Research", user, tokens_day=5_000), grouped("Sales", user)
    everybody = Budget.objects.create()
    gone = make_user("=gone")
    assert budget.group
    budget.group.user_set.add(gone)
    spend(user, 1_200)
    spend(gone, 300)
    manager, staff = managed(budget), make_user("staff", is_staff=True)
    staff.user_permissions.add(Permission.objects.get(codename="view_budget"))
    pages = [f"/account/budgets/{each.pk}/{end}" for each in (budget, other, everybody) for end in ("", "use.csv")]
    for who, expected in ((user, [404] * 6), (manager, [200] * 2 + [404] * 4), (staff, [200] * 6)):
        client.force_login(who)
        assert [client.get(page).status_code for page in pages] == expected
    client.force_login(manager)
    shown = client.get(pages[0]).content.decode()
    assert shown.partition("<main")[2].count("<rect") == 31
    assert all(words in shown for words in (user.username, "1,200", "5,000 tokens", "some / model"))
    today = budgets.today_utc().isoformat()
    assert client.get(pages[1]).content.decode().splitlines() == [
        "day,member,provider,model,calls,tokens,usd",
        *sorted([f"{today},'=gone,some,model,1,300,0.000000", f"{today},{user.username},some,model,1,1200,0.000000"]),
    ]
    listed = client.get("/account/budgets/").content.decode()
    assert ("today: 1,500 of 5,000 tokens, 0.00 USD" in listed, "Sales" in listed) == (True, False)
    deletion.delete_user(gone)
    assert "people whose account is deleted" in client.get(pages[0]).content.decode()


def test_a_server_at_its_ceiling_says_so(user: User) -> None:
    Budget.objects.create(tokens_month=0)
    with pytest.raises(BudgetExceeded, match="The budget of this whole server leaves no room"):
        allowances.reserve(user.pk, TRIAL, priced(1), lasts=timedelta(minutes=1))
    assert budget_warnings.notices(user.pk) == [
        "What the whole server may use this month is used up: models answer again from next month on."
    ]
