"""A page of the web, from its address to its text: bounded in time, bytes and redirects, and never from an inner network.

What a name resolves to is judged for each connection (``conversations.providers.http_client``); each redirect is an address
like the first. What came is read by the process that reads files.
"""

import asyncio
import tempfile
from collections.abc import Sequence
from contextlib import closing
from pathlib import Path
from urllib.parse import urldefrag, urljoin, urlsplit

import httpx2
from aiohttp import ClientError
from django.conf import settings

from artifacts.reading.kinds import detect
from artifacts.reading.process import FileProblem, Limits, Outline, Part, read
from conversations.providers.http_client import connection_code, open_client
from conversations.providers.written_urls import UrlProblem, problem_of
from conversations.runtime.text import one_line
from conversations.runtime.values import dataclass

CONNECT_SECONDS, SECONDS = 5.0, 20.0
MOST_ADDRESS, MOST_BYTES, MOST_REDIRECTS = 2_000, 5 * 1024 * 1024, 5
LIMITS = Limits(seconds=20.0, cpu_seconds=15, ocr_seconds=0.0, parts=500, text_bytes=4 * 2**20, picture_bytes=2**20)
ENDINGS = {
    "text/html": "html",
    "application/xhtml+xml": "html",
    "application/pdf": "pdf",
    "text/markdown": "md",
    "text/csv": "csv",
    "application/json": "json",
}
"""Of names, by media type. What is none of these is told by what stands in it, and by the ending of its address."""
ACCEPTED = "text/html, application/xhtml+xml, application/pdf, text/*;q=0.9, application/json;q=0.9, */*;q=0.5"
MAY_NOT = {
    UrlProblem.MALFORMED: "that is no address of a page",
    UrlProblem.INNER: "that address lies in an inner network",
}


class PageTooLarge(httpx2.TransportError):
    """An answer has more than is read, or is packed."""


class PageProblem(Exception):
    """Why a page can't be read, in words without anything that it said."""


@dataclass(frozen=True, kw_only=True)
class Page:
    """``url`` is where it was in the end. ``problem`` says what is missing of its parts, if anything."""

    url: str
    title: str
    parts: Sequence[Part]
    problem: str = ""


async def read_page(url: str) -> Page:
    """Raises ``PageProblem``."""
    with tempfile.TemporaryDirectory(prefix="page-") as folder:
        try:
            async with asyncio.timeout(SECONDS):
                url, name = await _fetch(url, Path(folder))
        except TimeoutError:
            raise PageProblem(f"it did not come within {SECONDS:g} s") from None
        except PageTooLarge as error:
            raise PageProblem(f"it is too large or packed: {MOST_BYTES // 2**20} MiB are read, as they are") from error
        except (httpx2.HTTPError, httpx2.InvalidURL, ClientError, OSError) as error:
            raise PageProblem(f"it was not reached ({connection_code(error)})") from error
        return await asyncio.to_thread(_read, url, Path(folder), name)


async def _fetch(url: str, folder: Path) -> tuple[str, str]:
    """Where it was in the end, and the name of the file in the folder. Raises ``PageProblem`` and what a client raises."""
    async with open_client(settings.OPENBOOK_FETCH_NETWORKS, connect_seconds=CONNECT_SECONDS) as client:
        for _ in range(MOST_REDIRECTS + 1):
            url = page_address(url)
            headers = {"Accept": ACCEPTED, "Accept-Encoding": "identity", "User-Agent": "Openbook"}
            async with client.stream("GET", url, headers=headers) as response:
                place = response.headers.get("location")
                if 300 <= response.status_code < 400 and place:
                    url = urljoin(url, place)
                    continue
                if response.status_code != httpx2.codes.OK:
                    raise PageProblem(f"its server answered {response.status_code}")
                name = _name_of(url, response.headers.get("content-type", ""))
                (folder / name).write_bytes(await read_body(response, MOST_BYTES))
                return url, name
    raise PageProblem("it leads from address to address")


def page_address(url: str) -> str:
    """As it is asked for: by https, without a place in the page. Raises ``PageProblem`` where it may not be asked."""
    url, _ = urldefrag(url.strip())
    if url.startswith("http://"):
        url = f"https://{url.removeprefix('http://')}"
    problem = problem_of(url, most=MOST_ADDRESS, networks=settings.OPENBOOK_FETCH_NETWORKS)
    if problem or not url.startswith("https://"):
        raise PageProblem(MAY_NOT[problem or UrlProblem.MALFORMED])
    return url


async def read_body(response: httpx2.Response, most: int) -> bytes:
    """Raises ``PageTooLarge``, and what a client raises."""
    if response.headers.get("content-encoding", "identity") != "identity":
        raise PageTooLarge("packed, which was not asked for")
    body = bytearray()
    async for piece in response.aiter_raw():
        body += piece
        if len(body) > most:
            raise PageTooLarge("more than is read")
    return bytes(body)


def _name_of(url: str, content_type: str) -> str:
    ending = ENDINGS.get(content_type.partition(";")[0].strip().lower()) or Path(urlsplit(url).path).suffix[1:10]
    return f"page.{ending if ending.isascii() and ending.isalnum() else 'txt'}"


def _read(url: str, folder: Path, name: str) -> Page:
    """Raises ``PageProblem``."""
    title, problem = "", ""
    parts: list[Part] = []
    try:
        type = detect(folder / name, name)
        with closing(read(folder / name, type, folder=folder, limits=LIMITS)) as found:
            for each in found:
                match each:
                    case Outline():
                        title = one_line(each.title)
                    case Part():
                        parts.append(each)
    except FileProblem as error:
        if not parts:
            raise PageProblem(f"it can't be read: {error.message}") from error
        problem = error.message
    return Page(url=url, title=title, parts=parts, problem=problem)
