"""The checks of a reply: of the message and of what files say before a model is given it, and of what the model wrote before it
is shown or done."""

import logging
from collections.abc import Mapping, Sequence
from typing import Any

from django.db import DatabaseError

from conversations.context.built_context import Context
from conversations.context.files.account import given_parts
from conversations.context.files.excerpts import PartKey
from conversations.errors import ModerationUnavailable, RefusedByModeration
from conversations.models import Moderator, Stage
from conversations.moderation import moderators
from conversations.moderation.checks import Examined
from conversations.moderation.examined import text_of_blocks
from conversations.moderation.verdicts import Verdict, holds_back
from conversations.replies.examined_files import what_files_say
from conversations.replies.model_requests import OpenedReply
from conversations.runtime.db import in_database

log = logging.getLogger("openbook.moderation")


class Moderation:
    """The moderators that are active when a reply begins, for all of it."""

    def __init__(self, opened: OpenedReply) -> None:
        self._opened = opened
        self._moderators: Sequence[Moderator] = ()
        self._parts: set[PartKey] = set()
        """Of files, that were examined in this reply."""
        self._text = ""
        """The last that was examined of what the model wrote."""

    async def begin(self) -> bool:
        """Read which moderators there are. Returns whether what the model writes is held back until it has been checked."""
        known = moderators.known()
        self._moderators = await in_database(moderators.active)() if known is None else known
        return holds_back(self._moderators)

    async def examine_message(self) -> None:
        """Raises ``RefusedByModeration`` and ``ModerationUnavailable``."""
        if self._opened.message:
            await self._examine(Stage.MESSAGE, text_of_blocks(self._opened.message.blocks))

    async def examine_files(self, context: Context) -> None:
        """The same of the parts of files that the request gives the model, each once in a reply."""
        asked = moderators.at_stage(self._moderators, Stage.FILES)
        parts = given_parts(context.files) - self._parts if asked else set()
        if not parts:
            return
        self._parts |= parts
        sees_pictures = any(moderator.sees_pictures for moderator in asked)
        say = in_database(what_files_say)
        text, pictures = await say(self._opened.thread.user_id, parts, with_pictures=sees_pictures)
        await self._examine(Stage.FILES, text, pictures)

    async def examine_reply(self, blocks: Sequence[Mapping[str, Any]]) -> None:
        """The same of what a model wrote in one round."""
        self._text = text_of_blocks(blocks)
        await self._examine(Stage.REPLY, self._text)

    async def examine_rest(self, blocks: Sequence[Mapping[str, Any]]) -> None:
        """What a model wrote in a round that was stopped or failed, and readers have seen: it is noted, and stays. Whatever
        goes wrong, the reply has ended."""
        text = text_of_blocks(blocks)
        if text == self._text:
            return
        try:
            await self._verdicts(Stage.REPLY, text)
        except DatabaseError:  # its thread may be gone
            log.warning("a reply that was stopped was not checked", extra={"reply": str(self._opened.reply.id)})

    async def _examine(self, stage: Stage, text: str, pictures: Sequence[str] = ()) -> None:
        verdicts = await self._verdicts(stage, text, pictures)
        if verdicts and verdicts[-1].stops:
            raise _refusal(stage, verdicts[-1])

    async def _verdicts(self, stage: Stage, text: str, pictures: Sequence[str] = ()) -> Sequence[Verdict]:
        """Of those that are asked, as recorded."""
        asked = moderators.at_stage(self._moderators, stage)
        if not asked or not (text or pictures):
            return ()
        opened = self._opened
        examined = Examined(
            stage=stage,
            text=text,
            pictures=pictures,
            user_id=opened.thread.user_id,
            thread_id=str(opened.thread.id),
            reply_id=str(opened.reply.id),
            assistant=opened.thread.assistant.slug,
        )
        verdicts = await moderators.examine(asked, examined)
        await in_database(moderators.record)(examined, verdicts)
        return verdicts


def _refusal(stage: Stage, verdict: Verdict) -> RefusedByModeration | ModerationUnavailable:
    kind = ModerationUnavailable if verdict.must_stop else RefusedByModeration
    return kind(verdict.words, stage=stage.value, moderator=verdict.moderator, retryable=verdict.must_stop)
