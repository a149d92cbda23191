"""Local servers that speak to the SDK's clients for Bedrock and Vertex as these clouds do, over real HTTP on loopback.

Behind each is the model of ``tests.model_server``. What differs is the way to it: the path that names the model, what stands
in the body, credentials, and with Bedrock the stream, whose events are frames of ``application/vnd.amazon.eventstream``.
"""

import base64
import json
import re
import struct
from collections.abc import Iterator, Mapping
from dataclasses import replace
from pathlib import Path
from typing import Any
from urllib.parse import unquote
from zlib import crc32

import pytest
from anthropic.lib.aws._auth import _get_session
from botocore.auth import SigV4Auth
from botocore.awsrequest import AWSRequest
from botocore.credentials import Credentials
from cryptography.hazmat.primitives.asymmetric import rsa
from cryptography.hazmat.primitives.serialization import Encoding, NoEncryption, PrivateFormat
from pytest_django import Settings

from tests.model_scripts import Raw, Script, ScriptedRefusal, ScriptedStream, Stall, Step, ping
from tests.model_server import ModelServer
from tests.model_server.transport import ReceivedRequest

REGION, PROJECT = "eu-central-1", "bakery-project"
ACCESS_KEY, SECRET, SESSION = "AKIALOCALLOCALLOCAL", "secret-canary/that+nobody-is-shown", "session-canary-of-the-tests"
TOKEN = "ya29.canary-that-nobody-is-shown"
STREAM = "application/vnd.amazon.eventstream"
COUNT_PATH = f"/v1/projects/{PROJECT}/locations/{REGION}/publishers/anthropic/models/count-tokens:rawPredict"
SIGNED = re.compile(r"AWS4-HMAC-SHA256 Credential=(\w+)/\d+/([\w-]+)/bedrock/aws4_request, SignedHeaders=([\w;-]+), .*")


class CloudServer(ModelServer):
    path: re.Pattern[str]

    def _answer(self, request: ReceivedRequest) -> Script:
        called = self.path.fullmatch(request.path)
        if request.method != "POST" or not called:
            return self.refused(404, "NotFoundException", f"{request.method} {request.path}")
        if not self.is_authorised(request):
            return self.refused(
                403, "UnrecognizedClientException", "The security token included in the request is invalid."
            )
        body = json.loads(request.raw_body)
        if not body.pop("anthropic_version", "") or {"model", "diagnostics"} & set(body):
            return self.refused(400, "ValidationException", "Malformed input request, please reformat your input.")
        request.body = body = {**body, "model": unquote(called["model"]), "stream": True}
        # The clouds' names of a model hold the maker's own.
        known = {**body, "model": re.sub(r"^.*anthropic\.|-v\d(:\d)?$|@\d+$", "", body["model"])}
        if (objection := self.claude.objection(known, "")) is not None:
            return self.spoken(objection)
        return self.spoken(self.claude.answer(known, "", self.claude.refusal(known) or self._next_script(known)))

    def is_authorised(self, request: ReceivedRequest) -> bool:
        raise NotImplementedError

    def refused(self, status: int, name: str, message: str) -> ScriptedRefusal:
        raise NotImplementedError

    def spoken(self, script: Script) -> Script:
        return script


class BedrockServer(CloudServer):
    """``api_key`` is one of Bedrock's own; without it, requests have to be signed with the access key."""

    path = re.compile(r"/model/(?P<model>[^/]+)/invoke-with-response-stream")

    def is_authorised(self, request: ReceivedRequest) -> bool:
        if self.api_key:
            return request.headers.get("authorization") == f"Bearer {self.api_key}"
        return is_signed(request, self.url)

    def refused(self, status: int, name: str, message: str) -> ScriptedRefusal:
        headers = {"x-amzn-errortype": f"{name}:http://internal.amazon.com/coral/com.amazon.bedrock/"}
        return ScriptedRefusal(status=status, body=json.dumps({"message": message}).encode(), headers=headers)

    def spoken(self, script: Script) -> Script:
        if isinstance(script, ScriptedRefusal):
            message = json.loads(script.body)["error"]["message"]
            return replace(script, body=json.dumps({"message": message}).encode())
        headers = {**script.headers, "content-type": STREAM, "x-amzn-requestid": "req_local"}
        return ScriptedStream(steps=tuple(map(framed, script.steps)), headers=headers)


class VertexServer(CloudServer):
    """Gives out the token itself, as Google's token service does for a service account."""

    path = re.compile(
        rf"/v1/projects/{PROJECT}/locations/{REGION}/publishers/anthropic/models/(?P<model>[^/:]+):streamRawPredict"
    )

    def __init__(self) -> None:
        super().__init__()
        self.tokens_given = 0

    def _answer(self, request: ReceivedRequest) -> Script:
        if request.path == "/token":
            self.requests.remove(request)
            self.tokens_given += 1
            token = {"access_token": TOKEN, "expires_in": 3600, "token_type": "Bearer"}
            return ScriptedRefusal(status=200, body=json.dumps(token).encode())
        if request.path == COUNT_PATH and self.is_authorised(request):
            request.body = json.loads(request.raw_body)
            return self._counted(request.body)
        return super()._answer(request)

    def is_authorised(self, request: ReceivedRequest) -> bool:
        return request.headers.get("authorization") == f"Bearer {TOKEN}"

    def refused(self, status: int, name: str, message: str) -> ScriptedRefusal:
        error = {"error": {"code": status, "message": message, "status": "INVALID_ARGUMENT"}}
        return ScriptedRefusal(status=status, body=json.dumps(error).encode())


def is_signed(request: ReceivedRequest, url: str) -> bool:
    """Whether the signature is the one that these headers, this path and this body have."""
    told = SIGNED.fullmatch(request.headers.get("authorization", ""))
    if told is None or told[1] != ACCESS_KEY:
        return False
    session = request.headers.get("x-amz-security-token")
    headers = {name: request.headers[name] for name in told[3].split(";")}
    again = AWSRequest("POST", f"{url}{request.path}", headers=headers, data=request.raw_body)
    again.context["timestamp"] = request.headers["x-amz-date"]
    signer = SigV4Auth(Credentials(ACCESS_KEY, SECRET, session), "bedrock", told[2])
    signature = signer.signature(signer.string_to_sign(again, signer.canonical_request(again)), again)
    return told[2] == REGION and request.headers["authorization"].endswith(f"Signature={signature}")


def framed(step: Step) -> Step:
    """A step of the Messages API's stream as Bedrock sends it."""
    match step:
        case dict():
            return Raw(event_frame(step))
        case Stall(seconds, b"") if seconds:
            return Stall(seconds, event_frame(ping()))
    return step


def event_frame(event: Mapping[str, Any]) -> bytes:
    told = {"bytes": base64.b64encode(json.dumps(event).encode()).decode(), "p": "abcdefg"}
    return frame(told, {":event-type": "chunk", ":content-type": "application/json", ":message-type": "event"})


def exception_frame(name: str, message: str) -> bytes:
    headers = {":exception-type": name, ":content-type": "application/json", ":message-type": "exception"}
    return frame({"message": message}, headers)


def frame(payload: Mapping[str, Any], headers: Mapping[str, str]) -> bytes:
    """Lengths and their checksum, headers, payload, and the checksum of it all."""
    body = json.dumps(payload).encode()
    told = b"".join(
        struct.pack("!B", len(name)) + name.encode() + struct.pack("!BH", 7, len(value)) + value.encode()
        for name, value in headers.items()
    )
    prelude = struct.pack("!II", 16 + len(told) + len(body), len(told))
    message = prelude + struct.pack("!I", crc32(prelude)) + told + body
    return message + struct.pack("!I", crc32(message))


def service_account(token_url: str) -> dict[str, str]:
    """The file of one, with a new key."""
    key = rsa.generate_private_key(public_exponent=65537, key_size=2048)
    pem = key.private_bytes(Encoding.PEM, PrivateFormat.PKCS8, NoEncryption()).decode()
    return {
        "type": "service_account",
        "project_id": PROJECT,
        "private_key_id": "local",
        "private_key": pem,
        "client_email": f"local@{PROJECT}.iam.gserviceaccount.com",
        "token_uri": token_url,
    }


def forget_sessions() -> None:
    """The SDK keeps what it once found of credentials."""
    _get_session.cache_clear()  # type: ignore[attr-defined]


@pytest.fixture
def bedrock(_sdk: None, settings: Settings, monkeypatch: pytest.MonkeyPatch) -> Iterator[BedrockServer]:
    """A local Bedrock, asked with the access key that this machine has in its environment."""
    access = {"AWS_ACCESS_KEY_ID": ACCESS_KEY, "AWS_SECRET_ACCESS_KEY": SECRET, "AWS_EC2_METADATA_DISABLED": "true"}
    for name, value in access.items():
        monkeypatch.setenv(name, value)
    monkeypatch.setattr("conversations.providers.http_provider.BACKOFF_SECONDS", (0.01, 0.01))
    with BedrockServer() as server:
        settings.OPENBOOK_PROVIDER, settings.AWS_REGION = "bedrock", REGION
        settings.ANTHROPIC_BEDROCK_BASE_URL = server.url
        forget_sessions()
        yield server
        forget_sessions()


@pytest.fixture
def vertex(_sdk: None, settings: Settings, monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> Iterator[VertexServer]:
    """A local Vertex, asked with a token that a service account's file is worth."""
    monkeypatch.setattr("conversations.providers.http_provider.BACKOFF_SECONDS", (0.01, 0.01))
    with VertexServer() as server:
        account = tmp_path / "account.json"
        account.write_text(json.dumps(service_account(f"{server.url}/token")))
        monkeypatch.setenv("GOOGLE_APPLICATION_CREDENTIALS", str(account))
        settings.OPENBOOK_PROVIDER, settings.CLOUD_ML_REGION = "vertex", REGION
        settings.ANTHROPIC_VERTEX_PROJECT_ID = PROJECT
        settings.ANTHROPIC_VERTEX_BASE_URL = f"{server.url}/v1"
        yield server
