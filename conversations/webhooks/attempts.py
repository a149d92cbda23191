"""One attempt to send: no longer than some seconds, and no further than one address.

Names are looked up once, and the address that a socket is opened for is judged (``conversations.providers.http_client``). The
answer is not followed to anywhere, and only its beginning is read.
"""

import asyncio
import logging
import time

import httpx2
from aiohttp import ClientError
from django.conf import settings

from conversations.models.webhooks import ANSWER_CHARS
from conversations.providers import http_client
from conversations.runtime import clock
from conversations.runtime.db import in_database
from conversations.runtime.text import clean
from conversations.webhooks import delivery, messages
from conversations.webhooks.delivery import Attempt, Outcome

log = logging.getLogger("openbook.webhooks")

CONNECT_SECONDS, SECONDS, ANSWER_SECONDS = 5.0, 10.0, 1.0
"""To connect; until the answer begins; to read how it begins."""


def open_client() -> httpx2.AsyncClient:
    return http_client.open_client(settings.OPENBOOK_INNER_NETWORKS, connect_seconds=CONNECT_SECONDS)


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
        problem = f"not reached: {http_client.connection_code(error)}"
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
