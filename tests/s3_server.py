"""A server of S3 on loopback, with one bucket: moto's, which speaks the protocol over real HTTP."""

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any
from uuid import uuid4

import boto3  # type: ignore[import-untyped]
from moto.server import ThreadedMotoServer

KEY, SECRET = "key-of-the-tests", "secret-of-the-tests"


@dataclass
class S3Server:
    url: str
    bucket: Any

    def places(self) -> list[str]:
        return [each.key for each in self.bucket.objects.all()]

    def contents(self) -> dict[str, bytes]:
        return {each.key: each.get()["Body"].read() for each in self.bucket.objects.all()}

    @property
    def environment(self) -> dict[str, str]:
        """Of an installation whose files lie there."""
        values = {"BUCKET": self.bucket.name, "ENDPOINT": self.url, "REGION": "eu-west-1", "KEY": KEY, "SECRET": SECRET}
        return {f"OPENBOOK_FILES_S3_{name}": value for name, value in values.items()}


@contextmanager
def s3_server() -> Iterator[S3Server]:
    server = ThreadedMotoServer(ip_address="127.0.0.1", port=0, verbose=False)
    server.start()
    try:
        url = "http://{}:{}".format(*server.get_host_and_port())
        resource = boto3.resource(
            "s3", endpoint_url=url, region_name="eu-west-1", aws_access_key_id=KEY, aws_secret_access_key=SECRET
        )
        name = f"book-{uuid4().hex}"  # moto keeps the buckets of a process when its server stops
        yield S3Server(url, resource.create_bucket(Bucket=name, CreateBucketConfiguration=REGION))
    finally:
        server.stop()


REGION: Any = {"LocationConstraint": "eu-west-1"}
