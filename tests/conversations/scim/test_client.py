"""SCIM as a client of somebody else checks it (scim2-tester), over real HTTP."""

import pytest
from httpx2 import Client
from scim2_client.engines.httpx2 import SyncSCIMClient
from scim2_tester import Status, check_server

from tests.processes import database_url, server

pytestmark = pytest.mark.wide

FINE = (Status.SUCCESS, Status.COMPLIANT, Status.ACCEPTABLE, Status.SKIPPED)
OTHERWISE = {("check_remove_attribute", "User", "PATCH modify() did not remove attribute 'active'")}
"""An account is open or shut, never neither: without the attribute it is open."""


def test_a_client_of_somebody_else_has_nothing_to_object(token: str) -> None:
    with server(database_url()) as running:
        headers = {"Authorization": f"Bearer {token}"}
        with Client(base_url=f"{running.url}scim/v2", headers=headers) as http:
            results = check_server(SyncSCIMClient(http))
    assert len([each for each in results if each.status is Status.SUCCESS]) > 40
    objections = {(each.title, each.resource_type, each.reason) for each in results if each.status not in FINE}
    assert objections == OTHERWISE
