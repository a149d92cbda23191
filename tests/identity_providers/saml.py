"""A SAML identity provider of another maker as a process, and what its answers look like to whoever wants to change them."""

from base64 import b64decode, b64encode
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from html import unescape
from pathlib import Path
from re import findall
from typing import Any

import httpx2
from lxml import etree

from tests.certificates import signing_pair
from tests.identity_providers import SITE, IdentityProvider, Page, Person, started

NAMES = {
    "p": "urn:oasis:names:tc:SAML:2.0:protocol",
    "a": "urn:oasis:names:tc:SAML:2.0:assertion",
    "d": "http://www.w3.org/2000/09/xmldsig#",
}


@dataclass
class SamlProvider(IdentityProvider):
    keys: Path

    def serve(self, metadata: str, signed: str = "assertion") -> None:
        """Whom it signs people in at, by its metadata; ``signed`` is ``assertion``, ``answer`` or ``both``."""
        self._tell("service", metadata=metadata, signed=signed)

    def differ(self, **differences: Any) -> None:
        """In what its answers differ from right ones from now on: see ``saml.js``. Nothing: in nothing."""
        self._tell("answers", **differences)

    def _tell(self, what: str, **values: Any) -> None:
        httpx2.post(f"{self.url}/{what}", json=values).raise_for_status()


@contextmanager
def saml_provider(folder: Path) -> Iterator[SamlProvider]:
    for name in ("campus", "other"):
        signing_pair(folder, name)
    with started("saml.js", str(folder)) as provider:
        yield SamlProvider(provider.url, folder)


class SamlPerson(Person):
    """With what the provider's page would have the browser send by itself."""

    def answer(self, name: str, begin: str) -> etree._Element:
        """Sign in over there. Returns the answer, which was not sent on yet."""
        return answer_in(self.sign_in(name, begin))

    def bring(self, answer: "etree._Element | bytes", to: str = "campus") -> Page:
        text = answer if isinstance(answer, bytes) else etree.tostring(answer)
        return self.post(f"{SITE}/accounts/saml/{to}/acs/", SAMLResponse=b64encode(text).decode(), RelayState="")

    @property
    def is_in(self) -> bool:
        return "_auth_user_id" in self.client.session


def answer_in(page: Page) -> etree._Element:
    fields = dict(findall(r'name="(\w+)" value="([^"]*)"', page.text))
    return etree.fromstring(b64decode(unescape(fields["SAMLResponse"])))


def part(answer: etree._Element, path: str) -> etree._Element:
    """Such as ``a:Assertion/d:Signature``."""
    element = answer.find(path, NAMES)
    assert element is not None
    return element
