"""The sending itself: many at once on an event loop, none of them longer than some seconds, none further than one address.

Names are looked up once, and the address that a socket is opened for is judged (``conversations.providers.http_client``). The
answer is not followed to anywhere, and only its beginning is read.
"""

import asyncio
import logging
import threading
import time
import uuid
from collections import Counter
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor

import httpx2
from aiohttp import ClientError
from django.conf import settings

from conversations.models.webhooks import ANSWER_CHARS
from conversations.providers.http_client import connection_code, open_client
from conversations.runtime import clock
from conversations.runtime.db import in_database
from conversations.runtime.running_tasks import RunningTasks
from conversations.runtime.text import clean
from conversations.webhooks import delivery, messages
from conversations.webhooks.delivery import Attempt, Outcome

log = logging.getLogger("openbook.webhooks")

CONNECT_SECONDS, SECONDS, ANSWER_SECONDS = 5.0, 10.0, 1.0
"""To connect; until the answer begins; to read how it begins."""
LOOK_SECONDS = 0.5
"""Between two looks where nothing is being sent."""
LOOK_UPS = 2 * delivery.MOST
"""Threads for names of servers: a few that are never answered must not keep others waiting."""


async def send_until(ended: threading.Event, check: Callable[[], None]) -> None:
    """Send what is due until the event is set. ``check`` raises once another process has taken over."""
    look_ups = ThreadPoolExecutor(max_workers=LOOK_UPS, thread_name_prefix="webhook names")
    asyncio.get_running_loop().set_default_executor(look_ups)  # which ends it with the loop
    running = RunningTasks[uuid.UUID](look_seconds=LOOK_SECONDS)
    async with open_client(settings.OPENBOOK_INNER_NETWORKS, connect_seconds=CONNECT_SECONDS) as client:
        try:
            while not ended.is_set():
                check()
                for attempt in await in_database(delivery.take)(Counter(running.keys)):
                    running.begin(attempt.webhook, send(client, attempt))
                await running.settle()
        finally:
            await running.cancel()  # each is sent again, by whoever sends then


async def send(client: httpx2.AsyncClient, attempt: Attempt) -> None:
    """Make one attempt, and store what became of it."""
    began = time.monotonic()
    status, answer, problem = None, b"", ""
    try:
        if not attempt.keys:
            raise Unsigned
        headers = messages.headers_of(attempt.id, attempt.body, attempt.keys, at=clock.now())
        async with asyncio.timeout(SECONDS):
            request = client.build_request("POST", attempt.url, content=attempt.body, headers=dict(headers))
            response = await client.send(request, stream=True)
        status = response.status_code
        answer = await _beginning(response)
        if not 200 <= status < 300:
            problem = f"answered {status} in place of 2xx"
    except Unsigned:
        problem = "its secret was encrypted with another SECRET_KEY; make a new one"
    except TimeoutError:
        problem = f"no answer within {SECONDS:g} s"
    except (httpx2.HTTPError, httpx2.InvalidURL, OSError) as error:
        problem = f"not reached: {connection_code(error)}"
    except Exception as error:  # whatever a target does, it costs this attempt alone
        log.exception("a webhook can't be sent", extra={"webhook": str(attempt.webhook)})
        problem = f"not reached: {type(error).__name__}"
    outcome = Outcome(
        status=status,
        answer=clean(answer.decode(errors="replace"))[:ANSWER_CHARS],
        problem=problem,
        milliseconds=round((time.monotonic() - began) * 1000),
    )
    await in_database(delivery.record)(attempt, outcome)


class Unsigned(Exception):
    """Nothing is sent without a signature."""


async def _beginning(response: httpx2.Response) -> bytes:
    """How the answer begins, for whoever looks why it was refused; whatever it is, the status has said all."""
    read = b""
    try:
        async with asyncio.timeout(ANSWER_SECONDS):
            async for piece in response.aiter_raw():
                read += piece
                if len(read) >= ANSWER_CHARS:
                    break
    except (TimeoutError, httpx2.HTTPError, ClientError, OSError):
        pass
    finally:
        await response.aclose()
    return read[:ANSWER_CHARS]
