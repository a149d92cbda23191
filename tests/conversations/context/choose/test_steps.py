"""Each step of a build by itself: a material and what was chosen before in, what it chose out. No database."""

from dataclasses import replace
from datetime import UTC, datetime, timedelta
from typing import Any

import pytest

from conversations.context.builder import STEPS, choose
from conversations.context.choose import (
    beside,
    cache,
    exclusion,
    file_texts,
    files,
    fitted,
    fixed,
    limits,
    query,
    rounds,
    standing,
    thread,
    warmth,
    window,
)
from conversations.context.choose.choice import Choice
from conversations.context.choose.step import Step
from conversations.context.files.excerpts import FileExcerpt, FileForm, FileOutline, PartContent, PartOutline
from conversations.context.files.thread_files import ThreadFiles
from conversations.context.gather.history import History, HistoryQuery
from conversations.context.gather.material import BuildRequest, Facts, Material, SearchedSource, ThreadScope
from conversations.context.query.rewriting import RewritingOutcome
from conversations.context.reasons import Reason
from conversations.context.render.rendering import round_text
from conversations.context.rules.fitting import round_section
from conversations.context.rules.prompt_cache import CacheState, Previous
from conversations.context.rules.standing import Known
from conversations.context.sessions import Session
from conversations.context.sources import Fitted, SourceQuery
from conversations.context.tokens.budget import Budget
from conversations.context.tokens.factor import Factor
from conversations.context.tokens.thinking import OutputAllowance
from conversations.context.turns.turn import Turn
from conversations.models import Assistant, Model, text_blocks
from conversations.providers.offline import OfflineProvider
from conversations.providers.thinking import NO_THINKING
from conversations.runtime.ids import uuid7
from memory.scope import OUTSIDE
from tests.conversations.context.turns import talk, turn

AT = datetime(2026, 11, 27, 12, tzinfo=UTC)
SESSION = Session(started_at=AT)
REPORT = FileOutline(
    id=str(uuid7()),
    user=1,
    name="report.txt",
    kind="text",
    problem="",
    left_out="",
    parts=[PartOutline(number=1, label="Part 1", heading="", tokens=9, has_picture=False, has_text=True)],
)


def material(*history: Turn, newest: Turn | None = None, has_files: bool = False, **request: Any) -> Material:
    """Of a request with a budget of 1,000 tokens, 600 of them for the history, that nothing is known for."""
    assistant = Assistant(
        history_tokens_high=600,
        history_tokens_low=300,
        history_turns_max=8,
        history_turns_min=2,
        total_tokens=1_000,
        hard_cap_tokens=1_200,
        file_tokens=400,
        rewriting=Assistant.Rewriting.LOCAL,
    )
    position = len(history) + 1
    asked = BuildRequest(
        scope=ThreadScope(user_id=1, thread_id=uuid7(), session=SESSION, memory=OUTSIDE),
        assistant=assistant,
        provider=OfflineProvider(),
        newest=newest or turn(position, "user", 10),
        at=AT,
        **request,
    )
    facts = Facts(
        assistant=assistant,
        model="m",
        row=Model(name="m", context_window=10_000),
        base="Be brief.",
        allowance=OutputAllowance(max_tokens=1_000, thinking=NO_THINKING),
        factor=Factor(value=1.0),
        window=10_000,
        program=None,
    )
    budget = Budget.of(assistant)
    return Material(
        request=asked,
        facts=facts,
        source_query=SourceQuery(user_id=1, thread_id=asked.scope.thread_id, session=SESSION, memory=OUTSIDE),
        history_query=HistoryQuery(user_id=1, thread_id=asked.scope.thread_id, before=position, budget=budget),
        history=History(turns=history, has_files=has_files),
        known=Known(began_at=AT),
    )


def chosen_before(step: Step, of: Material) -> Choice:
    return choose(of, STEPS[: STEPS.index(step)])


def run(step: Step, of: Material, **before: Any) -> Choice:
    """What a step chooses after those before it, of whose choice these are changed."""
    return step.choose(of, replace(chosen_before(step, of), **before))


def test_limits_are_the_assistants_within_the_models_window() -> None:
    small = material()
    small = replace(small, facts=replace(small.facts, window=1_900))
    assert run(limits.STEP, material()).limits.budget.hard_cap == 1_200
    assert run(limits.STEP, small).limits.budget.hard_cap == 900  # 1,000 of its window are for the answer


def test_files_have_a_room_of_their_own_beside_the_budget() -> None:
    assert run(thread.STEP, material()).limits.file_room == 0
    with_files = material(has_files=True)
    chosen = run(thread.STEP, replace(with_files, facts=replace(with_files.facts, window=2_000)))
    assert (chosen.limits.file_room, chosen.limits.budget.hard_cap) == (400, 600)
    assert chosen.file_form == FileForm()


def test_what_staff_and_the_caller_wrote_stands_first() -> None:
    parts = run(fixed.STEP, material()).parts
    assert [(part.name, part.text) for part in parts.fixed] == [("base", "Be brief.")]
    cited = run(fixed.STEP, material(has_files=True)).parts
    assert [part.name for part in cited.fixed] == ["base", "citing"]


def test_where_nothing_is_known_no_tier_stands_and_the_history_has_all_room() -> None:
    chosen = run(standing.STEP, material())
    assert (list(chosen.parts.tiers), chosen.limits.fitting.history_tokens) == ([], 600)


def test_the_window_begins_where_it_began_while_the_cache_is_warm() -> None:
    of = material(*talk(10, 10))
    sent = chosen_before(warmth.STEP, of).parts.digests
    before = Previous(
        at=AT - timedelta(minutes=1), provider="offline", model="m", sections=tuple(sent), positions=(1, 2)
    )
    for previous, expected in [
        (None, (CacheState.FIRST, None)),
        (before, (CacheState.WARM, 1)),
        (replace(before, model="other"), (CacheState.OTHER_MODEL, None)),
    ]:
        chosen = run(warmth.STEP, replace(of, history=replace(of.history, previous=previous)))
        assert (chosen.cache_state, chosen.begin_at) == expected


def test_turns_that_no_model_is_given_are_out_before_the_window_is_cut() -> None:
    failed = replace(turn(2, "assistant", 10), id=uuid7(), status="failed")
    chosen = run(exclusion.STEP, material(turn(1, "user", 10), failed))
    assert [each.position for each in chosen.candidates.turns] == [1]
    assert [(each.position, reason) for each, reason in chosen.candidates.excluded] == [(2, Reason.FAILED)]


@pytest.mark.parametrize(("depth", "lacks"), [(1, False), (41, True)])
def test_older_turns_are_read_where_those_that_were_read_could_all_fit(depth: int, lacks: bool) -> None:
    of = material(turn(41, "user", 10, depth=depth), turn(42, "assistant", 10, depth=depth + 1))
    assert exclusion.lacks_older(of, chosen_before(exclusion.STEP, of)) is lacks


def test_the_window_holds_the_newest_turns_that_fit() -> None:
    chosen = run(window.STEP, material(*talk(*[100] * 10)))
    assert [each.position for each in chosen.parts.history] == [7, 8, 9, 10]
    assert chosen.left_out is Reason.OVER_BUDGET


def test_a_message_that_leans_on_others_gets_a_query_and_a_presets_instruction_none() -> None:
    said = [
        turn(1, "user", 10, text_blocks("Who is Ada Lovelace?")),
        turn(2, "assistant", 10, text_blocks("A poet’s.")),
    ]
    newest = turn(3, "user", 10, text_blocks("Who are her children?"))
    assert "Lovelace" in run(query.STEP, material(*said, newest=newest)).query.query
    silent = run(query.STEP, material(*said, newest=newest, silent=True)).query
    assert silent.outcome is RewritingOutcome.OFF


def test_what_sources_give_for_the_message_stands_beside_it_in_their_order() -> None:
    given = {name: SearchedSource(fitted=Fitted(text=text)) for name, text in [("a", "One"), ("b", ""), ("c", "Three")]}
    additions = run(beside.STEP, replace(material(), beside=given)).parts.additions
    assert [(part.name, part.text) for part in additions] == [("a", "One"), ("c", "Three")]


def with_report() -> Material:
    block = {"type": "file", "file": REPORT.id, "name": REPORT.name}
    of = material(newest=turn(1, "user", 10, [block, *text_blocks("What does it say?")]))
    return replace(
        of,
        files=ThreadFiles(outlines={REPORT.id: REPORT}),
        contents={REPORT.id: {1: PartContent(text="The harbour is closed.", picture=None)}},
    )


def test_a_small_file_stands_whole_in_the_turn_that_brings_it() -> None:
    newest = run(files.STEP, with_report()).parts.newest
    assert list(newest.files) == [FileExcerpt(file=REPORT, numbers=(1,))]


def test_what_a_part_says_goes_before_the_persons_words() -> None:
    [block] = run(file_texts.STEP, with_report()).parts.newest.file_blocks
    assert "The harbour is closed." in block["text"]


def test_a_further_request_stays_as_it_was_while_the_hard_cap_allows() -> None:
    of = material()
    parts = chosen_before(rounds.STEP, of).parts
    for size, stays in [(10, True), (2_000, False)]:
        said = round_section(round_text(text_blocks("word " * size)))
        assert run(rounds.STEP, of, parts=replace(parts, rounds=[said]), is_further=True).stays is stays


def test_what_is_too_much_gives_way_from_the_oldest_turn_on() -> None:
    of = material(*talk(*[100] * 6))
    before = chosen_before(fitted.STEP, of)
    tight = replace(before.limits, fitting=replace(before.limits.fitting, total_tokens=250))
    chosen = run(fitted.STEP, of, limits=tight)
    assert [each.position for each in chosen.parts.history] == [5, 6]
    assert [each.position for each in chosen.whole.history] == [each.position for each in before.parts.history]


def test_a_provider_without_a_cache_is_told_nothing_of_one() -> None:
    assert run(cache.STEP, material()).cache.marks == ()


def test_each_step_has_its_test_and_a_name_of_its_own() -> None:
    names = [step.name for step in STEPS]
    assert len(set(names)) == len(names)
    modules = {limits, thread, fixed, standing, warmth, exclusion, window, query, beside, files, file_texts, rounds}
    assert {module.STEP for module in (*modules, fitted, cache)} == set(STEPS)
