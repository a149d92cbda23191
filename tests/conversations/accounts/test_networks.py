"""Networks as people write them, and which addresses are in them."""

import pytest

from conversations.accounts.networks import NotANetwork, are_within, contain, normalized


def test_networks_are_kept_in_one_way_and_once() -> None:
    assert normalized([" 10.1.2.3/8 ", "192.0.2.7", "10.0.0.0/8", "2001:DB8::1/32"]) == [
        "10.0.0.0/8",
        "192.0.2.7/32",
        "2001:db8::/32",
    ]
    for wrong in ("10.0.0.300", "example.com", "", "10.0.0.0/33"):
        with pytest.raises(NotANetwork):
            normalized([wrong])
    with pytest.raises(NotANetwork):
        normalized(f"10.0.0.{n}" for n in range(21))


@pytest.mark.parametrize(
    ("address", "inside"),
    [
        ("10.200.0.1", True),
        ("::ffff:10.0.0.1", True),
        ("2001:db8::5", True),
        ("11.0.0.1", False),
        ("2001:db9::5", False),
        ("", False),
        ("unix:", False),
    ],
)
def test_an_address_is_in_a_network_or_not(address: str, inside: bool) -> None:
    assert contain(["10.0.0.0/8", "2001:db8::/32"], address) is inside


def test_networks_lie_within_others() -> None:
    assert are_within(["10.1.0.0/16"], ["10.0.0.0/8"])
    assert are_within([], [])
    assert not are_within([], ["10.0.0.0/8"])
    assert not are_within(["10.1.0.0/16", "::1/128"], ["10.0.0.0/8"])
