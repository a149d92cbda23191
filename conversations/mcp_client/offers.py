"""What servers offer beside tools: resources, which become files of a person, and prompts, which become text to send."""

import hashlib
import mimetypes
import tempfile
from collections.abc import Callable, Coroutine, Mapping
from functools import partial
from pathlib import Path, PurePosixPath
from typing import Any
from urllib.parse import unquote, urlsplit

from django.conf import settings
from django.contrib.auth.models import User

from conversations.errors import ServerUnreachable
from conversations.files import storage, uploads
from conversations.files.uploads import Upload
from conversations.mcp_client import endpoints, sign_ins
from conversations.mcp_client.cutting import within
from conversations.mcp_client.endpoints import Endpoint, Prompt, Resource, ServerError
from conversations.models import File, McpServer


def resources_of(user: User, server: McpServer) -> list[Resource]:
    """As many as are read, in the server's order. Takes seconds; raises ``ServerUnreachable``, as all of these do."""
    return _asked(user, server, endpoints.list_resources)


def prompts_of(user: User, server: McpServer) -> list[Prompt]:
    return _asked(user, server, endpoints.list_prompts)


def prompt_text(user: User, server: McpServer, name: str, arguments: Mapping[str, str]) -> str:
    """Cut with a mark where it is longer than what a tool may answer."""
    text = _asked(user, server, partial(endpoints.get_prompt, name=name, arguments=arguments))
    return within(text, settings.OPENBOOK_MCP_RESULT_TOKENS)


def attach(user: User, server: McpServer, uri: str, *, name: str, enqueue: Callable[[File], object]) -> File:
    """A file like one that was uploaded, with what a resource holds now. Raises what ``uploads.receive`` does."""
    content = _asked(user, server, partial(endpoints.read_resource, uri=uri))
    data = content.data
    if len(data) > settings.OPENBOOK_MAX_FILE_MB * uploads.MIB:
        raise uploads.too_large()
    with storage.reaching(), tempfile.NamedTemporaryFile(dir=storage.scratch_root(), delete=False) as file:
        file.write(data)
    path = Path(file.name)
    upload = Upload(
        path=path,
        name=uploads.clean_name(file_name(name or uri, content.media_type)),
        size=len(data),
        sha256=hashlib.sha256(data).digest(),
    )
    try:
        return uploads.receive(user, upload, enqueue=enqueue)
    finally:
        path.unlink(missing_ok=True)


def file_name(uri: str, media_type: str) -> str:
    """Of a resource's name or address, with the ending of what it is where it has none. Pure."""
    last = PurePosixPath(unquote(urlsplit(uri).path)).name or "resource"
    kind = media_type.partition(";")[0].strip().lower()
    return last if PurePosixPath(last).suffix else last + (mimetypes.guess_extension(kind) or ".txt")


def _asked[T](user: User, server: McpServer, question: Callable[[Endpoint], Coroutine[Any, Any, T]]) -> T:
    try:
        return sign_ins.ask(server, user.pk, question)
    except ServerError as error:
        raise ServerUnreachable(problem=str(error)) from error
