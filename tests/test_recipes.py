"""The recipes for frameworks of agents, as the documents have them: each is run by its framework, against a live server."""

import re
import subprocess

import pytest

from openbook import Client
from tests.processes import ROOT
from tests.test_sdks import site

pytestmark = pytest.mark.wide

__all__ = ["site"]

PYTHON = ROOT / ".local/recipes/bin/python"
"""Of the environment that `make .local/recipes/stamp` makes."""
RECIPE = re.compile(r"^\*\*([^*\n]+)\*\*.*?^```python\n(.*?)^```$", re.MULTILINE | re.DOTALL)
COUNTING = """
import asyncio, os
from openbook import AsyncClient, Client
place = os.environ["URL"], os.environ["TOKEN"]
"""
RUNS = {
    "PydanticAI": """
from pydantic_ai import Agent
from pydantic_ai.models.function import FunctionModel
agent = Agent(FunctionModel(lambda messages, info: ModelResponse([TextPart(f"I was given {len(messages)}.")])))
with Client(*place) as openbook:
    _, thread = run(agent, openbook, "How many?")
    print(run(agent, openbook, "And now?", thread)[1])
""",
    "LangGraph": """
from langgraph.graph import START, MessagesState, StateGraph
def answer(state):
    return {"messages": [("assistant", f"I was given {len(state['messages'])}.")]}
graph = StateGraph(MessagesState).add_node("answer", answer).add_edge(START, "answer").compile()
with Client(*place) as openbook:
    _, thread = run(graph, openbook, "How many?")
    print(run(graph, openbook, "And now?", thread)[1])
""",
    "OpenAI’s Agents SDK": """
from agents import Agent, Model, ModelResponse, Runner, Usage, set_tracing_disabled
from openai.types.responses import ResponseOutputMessage, ResponseOutputText
set_tracing_disabled(True)
class Counting(Model):
    async def get_response(self, system_instructions, input, *others, **more):
        text = ResponseOutputText(text=f"I was given {len(input)}.", type="output_text", annotations=[])
        said = ResponseOutputMessage(id="m", content=[text], role="assistant", status="completed", type="message")
        return ModelResponse(output=[said], usage=Usage(), response_id=None)
    def stream_response(self, *others, **more):
        raise NotImplementedError
async def main():
    async with AsyncClient(*place) as openbook:
        session = OpenbookSession(openbook)
        agent = Agent(name="counting", model=Counting())
        await Runner.run(agent, "How many?", session=session)
        await Runner.run(agent, "And now?", session=session)
        print(session.session_id)
        other = OpenbookSession(openbook, session.session_id)
        assert [each["content"] for each in await other.get_items(2)] == ["And now?", "I was given 3."]
asyncio.run(main())
""",
}


def recipes() -> dict[str, str]:
    text = (ROOT / "docs/integrating.md").read_text()
    section = text.split("## Frameworks of agents")[1].split("\n## ")[0]
    return dict(RECIPE.findall(section))


def test_each_framework_has_its_recipe() -> None:
    assert recipes().keys() == RUNS.keys()


@pytest.mark.parametrize("framework", RUNS)
def test_history_is_kept_here(framework: str, site: tuple[str, str]) -> None:
    done = subprocess.run(
        [PYTHON, "-c", COUNTING + recipes()[framework] + RUNS[framework]],
        env={"URL": site[0], "TOKEN": site[1], "PYTHONPATH": str(ROOT / "clients/python")},
        capture_output=True,
        text=True,
        timeout=120,
        check=False,
    )
    assert (done.returncode, done.stderr) == (0, "")
    with Client(*site) as openbook:
        said = [turn["text"] for turn in openbook.history(done.stdout.strip())]
        assert said == ["How many?", "I was given 1.", "And now?", "I was given 3."]
        assert "And now?" in {found["content"] for found in openbook.search("now")}
