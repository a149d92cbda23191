"""The request for the contextualised query of a message, which a small model is asked for first (Q1)."""

from conversations.context.built_context import Context
from conversations.context.query import rewriting
from conversations.context.reasons import Reason
from conversations.context.record.turn_account import account
from conversations.context.render.rendering import render_material
from conversations.context.render.tool_sections import program_section
from conversations.context.rules.fitting import (
    MATERIAL,
    Parts,
    Section,
)
from conversations.context.stopwatch import Stopwatch
from conversations.context.tokens.estimate import text_of
from conversations.context.tokens.thinking import OutputAllowance
from conversations.models import Assistant, ContextSnapshot
from conversations.providers import model_catalog, provider_name
from conversations.providers.base import Provider


def rewriting_context(context: Context, *, assistant: Assistant, provider: Provider) -> Context:
    """The request that asks a small model for the contextualised query of this context's message (Q1)."""
    watch = Stopwatch()
    turns = rewriting.newest_turns(context.history)
    snippet = "\n\n".join(tier.text for tier in context.parts.tiers if tier.source.informs_query)
    material = Section.of(MATERIAL, rewriting.material(turns, snippet, text_of(context.newest.content)))
    parts = Parts(
        program=program_section(provider.program()),
        base=Section.of("base", rewriting.INSTRUCTIONS),
        history=turns,
        newest=context.newest,
        additions=[material],
    )
    chosen = assistant.rewriting_model if provider.name == provider_name(assistant) else ""
    model = chosen or model_catalog.small_model(provider.name, context.model)
    allowance = OutputAllowance.of_task(
        provider.describe(model), answer=rewriting.MAX_TOKENS, room=rewriting.THINKING_ROOM
    )
    return Context(
        purpose=ContextSnapshot.Purpose.REWRITE,
        provider=provider.name,
        model=model,
        max_tokens=allowance.max_tokens,
        thinking=allowance.thinking,
        parts=parts,
        runs=account(turns, context.newest, Reason.TURN_LIMIT, {}, begins_after=context.begins_after),
        turns_loaded=context.turns_loaded,
        budget=context.budget,
        origin=context.origin,
        payload=render_material(
            provider,
            model,
            allowance,
            instructions=parts.base.text,
            material=material.text,
            program=parts.program.text if parts.program else "",
        ),
        timings_ms=watch.laps(),
    )
