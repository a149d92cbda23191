"""The checks of a reply: of the message before a model is given it, and of what the model wrote before it is shown or done."""

from collections.abc import Mapping, Sequence
from typing import Any

from conversations.errors import ModerationUnavailable, RefusedByModeration
from conversations.models import Moderator, Stage
from conversations.moderation import moderators
from conversations.moderation.checks import Examined
from conversations.moderation.examined import text_of_blocks
from conversations.moderation.verdicts import Verdict, holds_back
from conversations.replies.model_requests import OpenedReply
from conversations.runtime.db import in_database


class Moderation:
    """The moderators that are active when a reply begins, for all of it."""

    def __init__(self, opened: OpenedReply) -> None:
        self._opened = opened
        self._moderators: Sequence[Moderator] = ()

    async def begin(self) -> bool:
        """Read which moderators there are. Returns whether what the model writes is held back until it has been checked."""
        known = moderators.known()
        self._moderators = await in_database(moderators.active)() if known is None else known
        return holds_back(self._moderators)

    async def examine_message(self) -> None:
        """Raises ``RefusedByModeration`` and ``ModerationUnavailable``."""
        if self._opened.message:
            await self._examine(Stage.MESSAGE, self._opened.message.blocks)

    async def examine_reply(self, blocks: Sequence[Mapping[str, Any]]) -> None:
        """The same of what a model wrote in one round."""
        await self._examine(Stage.REPLY, blocks)

    async def _examine(self, stage: Stage, blocks: Sequence[Mapping[str, Any]]) -> None:
        asked = moderators.at_stage(self._moderators, stage)
        text = text_of_blocks(blocks) if asked else ""
        if not text:
            return
        opened = self._opened
        examined = Examined(
            stage=stage,
            text=text,
            user_id=opened.thread.user_id,
            thread_id=str(opened.thread.id),
            reply_id=str(opened.reply.id),
            assistant=opened.thread.assistant.slug,
        )
        verdicts = await moderators.examine(asked, examined)
        await in_database(moderators.record)(examined, verdicts)
        if verdicts[-1].stops:
            raise _refusal(stage, verdicts[-1])


def _refusal(stage: Stage, verdict: Verdict) -> RefusedByModeration | ModerationUnavailable:
    kind = ModerationUnavailable if verdict.must_stop else RefusedByModeration
    return kind(verdict.words, stage=stage.value, moderator=verdict.moderator, retryable=verdict.must_stop)
