"""Addresses of databases, of one server or of several."""

import pytest
from psycopg.conninfo import conninfo_to_dict

from config.postgres.hosts import SEVERAL, AddressError, address

ONE = [
    "postgresql://openbook@/openbook?host=%2Ftmp%2Fdata&port=5432",
    "postgres://openbook:secret@10.0.0.5:5432/openbook?sslmode=require",
    "postgresql://openbook@[2001:db8::5]:5432/openbook?options=-c%20statement_timeout%3D1000",
    "host=/run/postgresql dbname=openbook",
]
TWO = {
    "postgres://openbook@10.0.0.5:5432,10.0.0.6:5433/openbook": ("10.0.0.5,10.0.0.6", "5432,5433"),
    "postgres://openbook@10.0.0.5,10.0.0.6/openbook?port=6432": ("10.0.0.5,10.0.0.6", "6432"),
    "postgres://openbook@[2001:db8::5]:5432,[2001:db8::6]:5433/openbook": ("2001:db8::5,2001:db8::6", "5432,5433"),
    "host=10.0.0.5,10.0.0.6 port=5432,5433 user=openbook dbname=openbook": ("10.0.0.5,10.0.0.6", "5432,5433"),
}
WRONG = {
    "a PostgreSQL on 10.0.0.5": "missing",
    "postgres://openbook@a:5432,b:5433,c/openbook?port=1,2": "3 hosts and 2 ports",
    "postgres://openbook@a:54321,b:123456/openbook": "'123456' is no port",
    "postgres://openbook@a/openbook?hosts=b": "hosts",
}


@pytest.mark.parametrize("url", ONE)
def test_the_address_of_one_server_stays_as_it_is(url: str) -> None:
    assert address(url) == url


@pytest.mark.parametrize(("url", "expected"), TWO.items())
def test_of_several_servers_the_one_that_takes_writes_is_used(url: str, expected: tuple[str, str]) -> None:
    host, port = expected
    parts = {"host": host, "port": port, "user": "openbook", "dbname": "openbook"}
    assert conninfo_to_dict(address(url)) == {**parts, **SEVERAL}


def test_what_the_address_says_holds() -> None:
    url = "postgres://u@a,b/d?target_session_attrs=primary&connect_timeout=9&options=-c%20jit%3Doff"
    parts = conninfo_to_dict(address(url))
    assert (parts["target_session_attrs"], parts["connect_timeout"], parts["options"]) == ("primary", "9", "-c jit=off")


@pytest.mark.parametrize(("url", "told"), WRONG.items())
def test_what_is_no_address_is_told_with_its_reason(url: str, told: str) -> None:
    with pytest.raises(AddressError, match=told):
        address(url)
