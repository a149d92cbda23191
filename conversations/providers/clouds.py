"""The clouds that sell Claude: the rows of ``clouds.toml``. Pure, and imports none of their packages."""

import re
from collections.abc import Mapping
from dataclasses import dataclass, field
from importlib.util import find_spec

from conversations.runtime.word_tables import read_tables

REGION = re.compile(r"[a-z0-9-]+")
ACCESS_KEY = re.compile(r"(A[A-Z0-9]{15,}):([^:]+)(?::([^:]+))?")
"""Id and secret of an access key of AWS, and the token of a session, if it is of one."""


@dataclass(frozen=True, kw_only=True)
class Cloud:
    """A row; what its columns mean stands above them."""

    name: str
    package: str
    address: str
    addresses: Mapping[str, str]
    request_id: str
    needs: Mapping[str, str]
    counts_tokens: bool
    failures: Mapping[str, str] = field(default_factory=dict)

    def address_in(self, region: str) -> str:
        """Where a region is reached; empty for what can be none: it would be a part of another host's name."""
        if not REGION.fullmatch(region):
            return ""
        return self.addresses.get(region) or self.address.format(region=region)

    @property
    def is_installed(self) -> bool:
        try:
            return find_spec(self.package) is not None
        except ModuleNotFoundError:  # the package that it is in
            return False


CLOUDS = {name: Cloud(**row) for name, row in read_tables(__file__).items()}


def access_key(key: str) -> tuple[str, str, str] | None:
    """Id, secret and session token, where a key is no API key of Bedrock's but an access key of AWS."""
    match = ACCESS_KEY.fullmatch(key)
    return (match[1], match[2], match[3] or "") if match else None
