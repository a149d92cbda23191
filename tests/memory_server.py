"""A local Supermemory: the few routes of its v5 API that the SDK is used for, over real HTTP on loopback.

Scripts answer the next requests in its stead. It finds by shared words, and adding under a known id appends, as the API does.
"""

import json
import re
from typing import Any
from urllib.parse import unquote

from tests.model_scripts import Script, ScriptedRefusal
from tests.model_server import ModelServer, ReceivedRequest

KEY = "key-of-the-tests"
PATH = re.compile(r"/ns/(?P<namespace>[\w-]+)/(?P<what>document|search)(?:/(?P<id>[\w-]+))?$")

type Document = dict[str, Any]


class MemoryServer(ModelServer):
    """``documents``: namespace and id to content and metadata."""

    def __init__(self) -> None:
        super().__init__()
        self.documents: dict[tuple[str, str], Document] = {}

    def _answer(self, request: ReceivedRequest) -> Script:
        request.body = json.loads(request.raw_body) if request.raw_body else None
        if self._scripts:
            return self._scripts.popleft()
        if request.headers.get("authorization") != f"Bearer {KEY}":
            return answer({"error": "Unauthorized"}, status=401)
        found = PATH.match(unquote(request.path))
        if found is None:
            return answer({"error": request.path}, status=404)
        match request.method, found["what"], found["id"]:
            case "POST", "search", None:
                return self._search(found["namespace"], request.body)
            case "POST", "document", None:
                return self._add(found["namespace"], request.body)
            case "DELETE", "document", None:
                return self._delete(found["namespace"], request.body["ids"])
            case "PATCH" | "GET" as method, "document", str(id):
                document = self.documents.get((found["namespace"], id))
                if document is None:
                    return answer({"error": "Document not found"}, status=404)
                if method == "PATCH":
                    document |= keep_document(request.body)
                return answer({"id": id, "status": "done", **document})
        return answer({"error": request.method}, status=404)

    def _add(self, namespace: str, body: Document) -> Script:
        before = self.documents.get((namespace, body["id"]))
        content = f"{before['content']}\n{body['content']}" if before else body["content"]
        self.documents[namespace, body["id"]] = keep_document(body) | {"content": content}
        return answer({"id": f"doc_{body['id']}", "status": "queued"})

    def _delete(self, namespace: str, ids: list[str]) -> Script:
        missing = [id for id in ids if self.documents.pop((namespace, id), None) is None]
        errors = [{"id": id, "error": "Document not found"} for id in missing]
        return answer({"count": len(ids) - len(missing), "errors": errors})

    def _search(self, namespace: str, body: dict[str, Any]) -> Script:
        wanted = {operand["value"] for operand in body["filter"]["operands"]}
        words = words_of(body["query"])
        mine = [
            document
            for (place, _), document in self.documents.items()
            if place == namespace and document["metadata"]["container"] in wanted
        ]
        mine.sort(key=lambda document: -len(words & words_of(document["content"])))
        return answer(results(*(document["metadata"] for document in mine[: body["limit"]])))


def words_of(text: str) -> set[str]:
    return set(re.findall(r"\w+", text.casefold()))


def keep_document(body: Document) -> Document:
    return {name: body[name] for name in ("content", "metadata")}


def results(*metadata: Any) -> dict[str, Any]:
    found = [
        {
            "id": f"chunk_{number}",
            "chunk": "…",
            "metadata": values,
            "similarity": 0.9,
            "isLatest": True,
            "isInference": False,
            "system": {"updatedAt": "2026-11-21T10:00:00Z"},
        }
        for number, values in enumerate(metadata)
    ]
    return {"results": found, "searchTime": 3}


def answer(body: Any, *, status: int = 200) -> ScriptedRefusal:
    return ScriptedRefusal(status=status, body=json.dumps(body).encode())
