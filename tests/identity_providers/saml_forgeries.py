"""What somebody between a SAML provider and this server could make of an answer."""

import copy
from collections.abc import Callable

from lxml import etree

from tests.identity_providers.saml import part

type Change = Callable[[etree._Element], "etree._Element | bytes"]


def without(path: str) -> Change:
    """Take an element out."""

    def change(answer: etree._Element) -> etree._Element:
        element = part(answer, path)
        parent = element.getparent()
        assert parent is not None
        parent.remove(element)
        return answer

    return change


def rewritten(old: str, new: str) -> Change:
    return lambda answer: bytes(etree.tostring(answer)).replace(old.encode(), new.encode())


def with_forged(placed: Callable[[etree._Element, etree._Element, etree._Element], None]) -> Change:
    """Signature wrapping: an assertion of one's own for somebody else, and the signed one elsewhere in the answer, so that the
    signature is right and what is read is not what was signed."""

    def change(answer: etree._Element) -> etree._Element:
        signed = part(answer, "a:Assertion")
        forged = copy.deepcopy(signed)
        forged.remove(part(forged, "d:Signature"))
        forged.set("ID", "_forged")
        part(forged, "a:Subject/a:NameID").text = "root"
        placed(answer, signed, forged)
        return answer

    return change


def extension(answer: etree._Element) -> etree._Element:
    element = etree.Element("{urn:oasis:names:tc:SAML:2.0:protocol}Extensions")
    answer.insert(1, element)
    return element


def beside(answer: etree._Element, signed: etree._Element, forged: etree._Element) -> None:
    signed.addprevious(forged)


def behind(answer: etree._Element, signed: etree._Element, forged: etree._Element) -> None:
    signed.addnext(forged)


def in_extensions(answer: etree._Element, signed: etree._Element, forged: etree._Element) -> None:
    answer.replace(signed, forged)
    extension(answer).append(signed)


def around(answer: etree._Element, signed: etree._Element, forged: etree._Element) -> None:
    answer.replace(signed, forged)
    forged.append(signed)


def in_signature(answer: etree._Element, signed: etree._Element, forged: etree._Element) -> None:
    """The forged one takes the signature, with the signed one as an object within it."""
    signature = part(signed, "d:Signature")
    answer.replace(signed, forged)
    signed.remove(signature)
    part(forged, "a:Issuer").addnext(signature)
    etree.SubElement(signature, "{http://www.w3.org/2000/09/xmldsig#}Object").append(signed)


def with_same_id(answer: etree._Element, signed: etree._Element, forged: etree._Element) -> None:
    forged.set("ID", signed.get("ID", ""))
    in_signature(answer, signed, forged)


def entity(answer: etree._Element) -> bytes:
    """What an entity stands for is read from the disk of the server, or is another and another, or another name."""
    declared = b'<!DOCTYPE r [<!ENTITY a "root"><!ENTITY b SYSTEM "file:///etc/hostname"><!ENTITY c "&a;&a;&a;">]>'
    return declared + bytes(etree.tostring(answer)).replace(b">u-2<", b">&b;&c;&a;<")


def moved_on(answer: etree._Element) -> etree._Element:
    """What is around the assertion is not signed."""
    answer.set("InResponseTo", "_mine")
    return answer


def unasked(answer: etree._Element) -> etree._Element:
    del answer.attrib["InResponseTo"]
    return answer
