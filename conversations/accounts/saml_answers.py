"""What an answer by SAML has to say beyond what python3-saml wants of it. Pure.

python3-saml takes an assertion without an audience, without a recipient and without the sign-in that it answers, and the answer
around it may be unsigned. So what counts is looked up in the assertion, of which the library made sure that there is one alone,
and that it or all around it is signed.
"""

from typing import Any

SAML = "{urn:oasis:names:tc:SAML:2.0:assertion}"
BEARER = "urn:oasis:names:tc:SAML:2.0:cm:bearer"
TRANSIENT = "urn:oasis:names:tc:SAML:2.0:nameid-format:transient"
LONGEST_UID = 191
LONGEST_SECONDS = 86_400
"""For which an answer may be good: as long as it is remembered that it was used."""


class AnswerRefused(Exception):
    """The answer is not what the provider would send to this server now, for this sign-in."""


def check(answer: Any, *, audience: str, recipient: str, in_response_to: str) -> None:
    """``answer`` is the element ``samlp:Response``, decrypted. ``in_response_to`` is the sign-in that it names, empty where it
    came unasked. Raises ``AnswerRefused``."""
    restrictions = answer.findall(f"{SAML}Assertion/{SAML}Conditions/{SAML}AudienceRestriction")
    named = [{_text(each) for each in restriction.iter(f"{SAML}Audience")} for restriction in restrictions]
    if not named or not all(audience in audiences for audiences in named):
        raise AnswerRefused("the answer is for another service, or names none (Audience)")
    confirmations = [
        each
        for each in answer.findall(f"{SAML}Assertion/{SAML}Subject/{SAML}SubjectConfirmation")
        if each.get("Method") == BEARER
    ]
    if not confirmations:
        raise AnswerRefused("the answer has no confirmation for its bearer (SubjectConfirmation)")
    for confirmation in confirmations:
        data = confirmation.find(f"{SAML}SubjectConfirmationData")
        if data is None or not data.get("NotOnOrAfter"):
            raise AnswerRefused("the answer has no end (SubjectConfirmationData, NotOnOrAfter)")
        if data.get("Recipient") != recipient:
            raise AnswerRefused("the answer is for another address (SubjectConfirmationData, Recipient)")
        if data.get("InResponseTo", "") != in_response_to:
            raise AnswerRefused("the answer is for another sign-in (SubjectConfirmationData, InResponseTo)")


def lifetime(expires_at: int, *, now: int) -> int:
    """Seconds for which the answer is to be remembered. Raises ``AnswerRefused``."""
    if expires_at - now > LONGEST_SECONDS:
        raise AnswerRefused("the answer is good for more than a day")
    return max(1, expires_at - now)


def uid(value: Any, *, attribute: Any, name_id: str, name_id_format: str) -> str:
    """By what the person is known: ``value`` of the attribute that the operator names, or else the name itself. A name that
    is another one at each sign-in is none, and one that stands for a missing attribute could be somebody else's. Raises
    ``AnswerRefused``."""
    if isinstance(value, dict):  # a name within an attribute, as eduPersonTargetedID has it
        value = value.get("NameID", {}).get("value")
    if attribute and not value:
        raise AnswerRefused(f"the attribute {attribute} is missing, by which people are known (uid)")
    if not attribute and name_id_format == TRANSIENT:
        raise AnswerRefused(
            "the provider names people anew each time: let it send a lasting NameID, or an attribute (uid)"
        )
    known = str(value or name_id or "")
    if not known.strip() or len(known) > LONGEST_UID or "\0" in known:
        raise AnswerRefused(f"the provider does not say who it is, or in more than {LONGEST_UID} characters")
    return known


def _text(element: Any) -> str:
    return "".join(element.itertext()).strip()
