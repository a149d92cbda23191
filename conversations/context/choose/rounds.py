"""What the reply has said and done before this request, with what it has read of files in its rounds.

All that stood in the request before is the same to the byte, as long as the hard cap allows it, so that it comes from the
provider's cache and that the model takes its thinking back, which is bound to all that stood before it. Else the context is
fitted anew, and the reply's thinking so far is left out. Only models that think within a budget don't bind it; they want it
back whatever else has changed.
"""

from dataclasses import replace

from conversations.context.choose.choice import Choice
from conversations.context.choose.files import picture_counter
from conversations.context.choose.step import Step
from conversations.context.files.excerpts import FileExcerpt, FileOutline
from conversations.context.files.in_turns import read_in_rounds, results_of_rounds
from conversations.context.files.results import numbers_named
from conversations.context.gather.material import Material
from conversations.context.gather.project_files import ProjectQuery
from conversations.context.gather.reader import Reader
from conversations.context.rules.fitting import Parts, without_thoughts
from conversations.providers.thinking import ThinkingPlan


def read(reader: Reader, material: Material, choice: Choice) -> Material:
    material = with_files_read(reader, material, choice)
    excerpts = read_of_files(material, choice.parts)
    return replace(material, read_contents=reader.contents(excerpts, choice.file_form) if excerpts else {})


def choose(material: Material, choice: Choice) -> Choice:
    parts = choice.parts
    if material.files.outlines:
        excerpts, form = read_of_files(material, parts), material.files.form
        results = results_of_rounds(parts.round_blocks, excerpts, material.read_contents, form)
        parts = replace(parts, read=excerpts, results=results)
    stays = choice.is_further and parts.total_tokens <= choice.limits.fitting.beside_files(parts.file_tokens).hard_cap
    if not stays:
        parts = without_bound_thinking(parts, material.facts.allowance.thinking)
    return replace(choice, parts=parts, stays=stays)


def with_files_read(reader: Reader, material: Material, choice: Choice) -> Material:
    """With what there is of the project's files that the reply has read since."""
    project, files = material.request.scope.memory.project, material.files
    if project is None or choice.file_form is None:
        return material
    named = numbers_named(block for blocks in choice.parts.round_blocks for block in blocks)
    missing = {id: numbers for id, numbers in named.items() if not _are_known(files.outlines.get(id), numbers)}
    if not missing:
        return material
    pictures = picture_counter(material.facts, choice.file_form)
    query = ProjectQuery(user_id=material.request.scope.user_id, project=project, pictures=pictures, named=missing)
    outlines = dict(files.outlines)
    for id, file in reader.project_outlines(query).items():
        outlines[id] = file.with_parts(outlines[id].parts) if id in outlines else file
    return replace(material, files=replace(files, form=choice.file_form, outlines=outlines))


def _are_known(file: FileOutline | None, numbers: set[int]) -> bool:
    return file is not None and numbers <= {part.number for part in file.parts}


def read_of_files(material: Material, parts: Parts) -> list[FileExcerpt]:
    outlines = material.files.outlines
    return read_in_rounds(parts.round_blocks, outlines) if outlines else []


def without_bound_thinking(parts: Parts, thinking: ThinkingPlan) -> Parts:
    if thinking.mode == "enabled" or not parts.rounds:
        return parts
    return replace(parts, rounds=[without_thoughts(part) for part in parts.rounds])


STEP = Step(name="rounds", label="What the reply did before", read=read, choose=choose)
