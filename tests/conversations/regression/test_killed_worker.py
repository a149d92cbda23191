"""A worker that is killed while it saves: what it had done is done again, and nothing is counted twice."""

import os
import subprocess
import sys

import pytest
from django.contrib.auth.models import User
from django.db import connection, transaction

from conversations.models import Replay
from conversations.regression import replays
from conversations.regression.report import Report
from conversations.runtime import clock
from conversations.runtime.db import in_database
from conversations.runtime.db import run as execute
from tests.commands import SETTINGS
from tests.conversations.regression.test_replay import WEEK, talk
from tests.conversations.rest.client import Api
from tests.processes import ROOT
from tests.services import url_of
from tests.waiting import until

pytestmark = [pytest.mark.django_db(transaction=True), pytest.mark.usefixtures("engine"), pytest.mark.wide]
WORKER = """
import django
django.setup()
from conversations.regression import replays
replays.advance(lambda: True)
"""
WAITS = "SELECT pid FROM pg_locks WHERE NOT granted AND locktype = 'transactionid'"


async def test_a_killed_worker_loses_nothing_and_counts_nothing_twice(user: User, api: Api) -> None:
    assistant = await talk(user, api)

    def walk() -> None:
        row = replays.start(assistant, None, since=clock.now() - WEEK, author=None)
        for _ in range(2):
            replays.advance(lambda: True)
        with transaction.atomic():
            Replay.objects.select_for_update().get(pk=row.pk)
            url = url_of(str(connection.settings_dict["NAME"]))
            variables = {**os.environ, **SETTINGS, "DATABASE_URL": url}
            with subprocess.Popen([sys.executable, "-c", WORKER], cwd=ROOT, env=variables) as worker:
                until(lambda: execute(WAITS))
                worker.kill()
            assert worker.returncode < 0
        while replays.due().exists():
            replays.advance(lambda: True)
        row.refresh_from_db()
        report = Report.of(row.figures)
        assert (row.state, report.requests, report.identical) == ("done", 5, 5)

    await in_database(walk)()
