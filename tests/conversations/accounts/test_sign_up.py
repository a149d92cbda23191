"""Who may make an account."""

import pytest

from conversations.accounts.sign_up import InvitationTerms, Refusal, SignUpRules, refusal

OPEN, CLOSED = SignUpRules(is_open=True), SignUpRules(is_open=False)
DOMAIN = SignUpRules(is_open=True, domains=("example.org",))
ANYBODY, ANN = InvitationTerms(), InvitationTerms(email="Ann@elsewhere.example")
ENDED = InvitationTerms(has_ended=True)


@pytest.mark.parametrize(
    ("rules", "email", "is_verified", "invitation", "reason"),
    [
        (OPEN, "", False, None, None),
        (CLOSED, "ann@example.org", True, None, Refusal.CLOSED),
        (DOMAIN, "", False, None, Refusal.ADDRESS_NEEDED),
        (DOMAIN, "ann@example.org", False, None, Refusal.ADDRESS_NOT_VERIFIED),
        (DOMAIN, "ann@EXAMPLE.org", True, None, None),
        *(
            (DOMAIN, email, True, None, Refusal.OTHER_DOMAIN)
            for email in (
                "ann@example.org.evil.example",
                "ann@evil-example.org",
                "example.org@evil.example",
                "ann@a.example.org",
            )
        ),
        *((rules, "", False, ANYBODY, None) for rules in (OPEN, CLOSED, DOMAIN)),
        *((rules, "", False, ENDED, Refusal.INVITATION_ENDED) for rules in (OPEN, CLOSED, DOMAIN)),
        (CLOSED, "ann@elsewhere.example", True, ANN, None),
        (OPEN, "ann@elsewhere.example", False, ANN, Refusal.ADDRESS_NOT_VERIFIED),
        (CLOSED, "", False, ANN, Refusal.ADDRESS_NEEDED),
        (OPEN, "bob@elsewhere.example", True, ANN, Refusal.OTHER_ADDRESS),
    ],
)
def test_rules_and_invitations_decide(
    rules: SignUpRules, email: str, is_verified: bool, invitation: InvitationTerms | None, reason: Refusal | None
) -> None:
    assert refusal(rules, email=email, is_verified=is_verified, invitation=invitation) is reason
