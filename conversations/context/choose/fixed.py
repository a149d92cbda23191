"""What staff, the provider's program and the caller wrote: nothing cuts it (C1)."""

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any

from conversations.context.choose.choice import Choice
from conversations.context.choose.step import Step
from conversations.context.files.citations import how_to_cite
from conversations.context.gather.material import Material
from conversations.context.render.tool_sections import caller_section, tools_section
from conversations.context.rules.fitting import CITING, INSTRUCTIONS, Parts, Section
from conversations.context.server_tools import NAME, ServerTools


def choose(material: Material, choice: Choice) -> Choice:
    request, tools = material.request, material.tools
    caller = request.options.fields
    definitions = [tool for tool in (*tools.definitions, *of_servers(material)) if tool["name"] not in caller.names]
    parts = Parts(
        program=material.facts.program,
        tools=tools_section(definitions) if definitions else None,
        caller=caller_section(caller, beside_tools=bool(definitions)),
        base=Section.of("base", material.facts.base),
        rules=section("rules", tools.rules),
        citing=section(CITING, citing(material, choice)),
        instructions=section(INSTRUCTIONS, request.options.instructions),
        newest=request.newest,
        silent=request.silent,
        rounds=request.options.rounds,
    )
    return replace(choice, parts=parts)


def of_servers(material: Material) -> Sequence[Mapping[str, Any]]:
    """Definitions of tools of connected servers. In a request that is made again they stand among the recorded ones."""
    tools = material.known.candidates.get(NAME)
    return tools.definitions if isinstance(tools, ServerTools) else ()


def section(name: str, text: str) -> Section | None:
    return Section.of(name, text) if text else None


def citing(material: Material, choice: Choice) -> str:
    """How files are to be cited; empty where there are none."""
    if material.facts.citing is not None:
        return material.facts.citing
    return how_to_cite(by_itself=choice.file_form.documents) if material.has_files else ""


STEP = Step(name="fixed", label="What staff wrote", choose=choose)
