"""From the table on a page of a PDF to a workbook: uploaded, read, given to the model, saved, downloaded."""

import io
import re
from typing import Any

import pytest
import typst
from django.contrib.auth.models import User
from pytest_django import Settings
from python_calamine import CalamineWorkbook

from artifacts.models import Artifact
from conversations.context.record import snapshots
from conversations.files import progress
from conversations.models import ContextSnapshot, File
from conversations.runtime.db import in_database
from tests import model_scripts as scripts
from tests.artifacts.rest.test_exports import bytes_of
from tests.conversations.rest.client import Api
from tests.model_server import ModelServer
from tests.uploads import FORM, form

pytestmark = [pytest.mark.django_db(transaction=True), pytest.mark.usefixtures("engine")]

REPORT = """
#set page(margin: 10mm)
#set text(size: 9pt)
= Report
#lorem(700)
#pagebreak()
= Staff
#lorem(700)
#pagebreak()
= Costs
#table(columns: 3, [Month], [Ships], [Sum], [January], [7], [84.50], [February], [-3], [1,250.00])
#pagebreak()
#for number in range(36) [
  = Outlook #number
  #lorem(700)
  #pagebreak()
]
"""
ROWS = [["Month", "Ships", "Sum"], ["January", 7.0, 84.5], ["February", -3.0, 1250.0]]
REQUEST = "Make the table in page 3 a spreadsheet"


async def upload(api: Api, content: bytes, name: str) -> str:
    answer = await api.send("POST", "files/", form(content, name), FORM)
    assert answer.status == 201, answer.body
    file = await File.objects.aget(id=answer.body["id"])
    await in_database(progress.read_file)(file.id)
    return str(file.id)


def saver(body: dict[str, Any]) -> scripts.ScriptedStream:
    """A model that copies the lines of page 3 which it was given, three cells each."""
    content = body["messages"][-1]["content"]
    if any(block["type"] == "tool_result" for block in content):
        return scripts.text("The costs are beside the conversation.")
    documents = [block["source"]["content"] for block in content if block["type"] == "document"]
    given = "".join(block["text"] for blocks in [*documents, content] for block in blocks if block["type"] == "text")
    page = re.search(r'<part number="\d+" label="page 3">\n(.*?)</part>', given, re.DOTALL)
    assert page
    assert 'label="page 30"' not in given
    rows = [line.split() for line in page[1].splitlines() if len(line.split()) == 3]
    head, *others = [f"| {' | '.join(cells)} |" for cells in rows]
    table = "\n".join(["## Costs", "", head, "|---|---|---|", *others])
    return scripts.tool_use("save_artifact", {"title": "Costs of the port", "kind": "table", "content": table})


async def downloaded(api: Api) -> dict[str, list[list[Any]]]:
    artifact = await Artifact.objects.aget()
    assert artifact.kind == "table"
    body, headers = await bytes_of(api, f"artifacts/{artifact.id}/export/?as=xlsx")
    assert headers["content-type"] == "application/vnd.openxmlformats-officedocument.spreadsheetml.sheet"
    assert ".xlsx" in headers["content-disposition"]
    book = CalamineWorkbook.from_filelike(io.BytesIO(body))
    return {name: book.get_sheet_by_name(name).to_python() for name in book.sheet_names}


async def test_the_table_on_page_three_becomes_a_workbook(user: User, api: Api, model: ModelServer) -> None:
    file = await upload(api, typst.compile(REPORT.encode()), "report.pdf")
    model.script(saver)
    answer = await api.post("threads/new/messages/", {"content": REQUEST, "files": [file], "assistant": "analyst"})
    assert answer.status == 201, answer.body
    assert answer.body["assistant_message"]["text"] == "The costs are beside the conversation."
    tool = next(each for each in model.bodies[0]["tools"] if each["name"] == "save_artifact")
    assert "spreadsheet" in tool["input_schema"]["properties"]["kind"]["description"]
    assert await downloaded(api) == {"Costs of the port": ROWS}
    body, _ = await bytes_of(api, f"artifacts/{(await Artifact.objects.aget()).id}/export/?as=csv")
    assert body.decode() == '\ufeffMonth,Ships,Sum\r\nJanuary,7,84.50\r\nFebruary,-3,"1,250.00"\r\n'
    requests = [each async for each in ContextSnapshot.objects.filter(reply=answer.body["reply"]["id"])]
    assert len(requests) == 2
    assert [bool(await in_database(snapshots.proof)(each)) for each in requests] == [True, True]


@pytest.fixture
def without_a_model(settings: Settings) -> None:
    settings.OPENBOOK_PROVIDER = "offline"


@pytest.mark.wide
@pytest.mark.usefixtures("without_a_model")
async def test_without_a_model_the_table_of_the_page_is_copied(user: User, api: Api) -> None:
    file = await upload(api, typst.compile(REPORT.encode()), "report.pdf")
    answer = await api.post("threads/new/messages/", {"content": REQUEST, "files": [file], "assistant": "analyst"})
    assert answer.status == 201, answer.body
    (rows,) = (await downloaded(api)).values()
    assert rows == ROWS
