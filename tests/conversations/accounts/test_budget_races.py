"""200 requests at a pool for ten, of twenty people, over two servers that know nothing of each other."""

import re
from collections import Counter
from concurrent.futures import ThreadPoolExecutor
from contextlib import ExitStack
from datetime import timedelta
from decimal import Decimal

import pytest
from django.contrib.auth.models import Group
from django.utils import timezone

from conversations.accounts import budgets, tokens
from conversations.models import Assistant, Budget, BudgetCharge, BudgetPool, Message, Reply, Scope
from conversations.replies import closing
from tests import model_scripts as scripts
from tests.clients import ApiError, ServerClient
from tests.conversations.accounts.test_allowances import open_reply
from tests.conversations.factories import make_user
from tests.model_server import ModelServer
from tests.processes import database_url, server

pytestmark = [pytest.mark.django_db(transaction=True), pytest.mark.operate]

PEOPLE, REQUESTS, ROOM, AT_ONCE = 20, 200, 10, 40


@pytest.mark.parametrize("limit", ["tokens_day", "money_month"])
def test_never_a_token_or_a_cent_over(model: ModelServer, limit: str) -> None:
    Assistant.objects.update(uses_memory=False, rewriting="off")
    people = [make_user() for _ in range(PEOPLE)]
    group = Group.objects.create(name="Research")
    budget = Budget.objects.create(group=group)
    group.user_set.add(people[0])
    open_reply(people[0])  # what one takes
    known = BudgetCharge.objects.get()
    closing.request_stop(user=people[0], reply_id=known.reply or "")
    Reply.objects.filter(status="running").update(lease_until=timezone.now() - timedelta(seconds=1))
    assert known.reply and closing.interrupt(known.reply, user_id=people[0].pk)
    BudgetCharge.objects.all().delete()
    BudgetPool.objects.all().delete()
    group.user_set.set(people)
    if limit == "tokens_day":
        budget.tokens_day = ROOM * known.reserved_tokens + known.reserved_tokens // 2
    else:  # whole cents
        budget.money_month = Decimal(-(-ROOM * known.reserved_money // 10_000)) / 100
        assert budget.money_month * 1_000_000 < (ROOM + 1) * known.reserved_money
    budget.save()
    gate = scripts.Gate()
    model.script(lambda body: scripts.text(gate, "Hi"))
    environment = {
        "OPENBOOK_PROVIDER": "anthropic",
        "ANTHROPIC_API_KEY": "key-of-the-tests",
        "ANTHROPIC_BASE_URL": model.url,
    }
    keys = [tokens.issue(user=person, name="a program", scopes=[Scope.WRITE]) for person in people]
    with ExitStack() as stack:
        servers = [stack.enter_context(server(database_url(), **environment)) for _ in range(2)]

        def send(number: int) -> str:
            client = ServerClient(servers[number % 2].url, keys[number % PEOPLE])
            try:
                next(client.frames("threads/new/messages/stream/", {"content": "Hello"}))
            except ApiError as error:
                assert re.search(r"Research", error.error["message"])
                return f"{error.status} {error.error['code']} {error.error['details']['limit']}"
            return "stored"

        with ThreadPoolExecutor(AT_ONCE) as pool:
            outcomes = Counter(pool.map(send, range(REQUESTS)))
        assert outcomes == {"stored": ROOM, f"429 budget_exceeded {limit}": REQUESTS - ROOM}
        together = BudgetPool.objects.get(user=None)
        assert together.reserved_tokens == ROOM * known.reserved_tokens
        assert together.reserved_money == ROOM * known.reserved_money
        assert Message.objects.filter(role="user").count() == ROOM + 1
        for each in servers:  # of which nobody ends a reply any more
            each.kill()
    gate.open()
    assert len(model.requests) == ROOM
    Reply.objects.filter(status="running").update(lease_until=timezone.now() - timedelta(seconds=1))
    for reply in Reply.objects.filter(status="running"):
        assert closing.interrupt(reply.id, user_id=reply.user_id)
    together.refresh_from_db()
    assert (together.reserved_tokens, together.reserved_money) == (0, 0)
    before = {pool.pk: [getattr(pool, kind) for kind in budgets.KINDS] for pool in BudgetPool.objects.all()}
    assert {pool.pk: [getattr(pool, kind) for kind in budgets.KINDS] for pool in budgets.recounted(budget)} == before
