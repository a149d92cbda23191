"""`manage.py chat`: talk to an assistant in the terminal. Threads, memory and the open book are those of the browser."""

import asyncio
import logging
import sys
from argparse import ArgumentParser
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from typing import Any

from django.contrib.auth.models import User
from django.core.management.base import CommandError

from config.local_model.supervision import engine_running
from config.management.output import PrintableCommand
from conversations import replies, threads
from conversations.errors import OpenbookError
from conversations.runtime.db import close_pool
from conversations.terminal import GO_ON, QUESTION, Conversation
from conversations.threads import deletion

LAST = "last"
PROMPT = "> "


class Command(PrintableCommand):
    help = (
        "Chat in the terminal. Without a message it asks for one after another, until Ctrl-D; Ctrl-C stops a reply, "
        "/edit TEXT says the last message in other words, /versions lists those and goes to one. "
        "A message may also come by a pipe."
    )

    def add_arguments(self, parser: ArgumentParser) -> None:
        parser.add_argument("message", nargs="?", help="ask only this")
        parser.add_argument("--user", help="who asks, by name (the only active superuser)")
        parser.add_argument("--thread", help="id of the thread to go on with, or `last` (a new one)")
        parser.add_argument("--assistant", help="who answers in a new thread, by slug (the default assistant)")
        parser.add_argument("--model", default="", help="which model answers, of those offered (that of the thread)")
        parser.add_argument(
            "--temporary", action="store_true", help="in a chat that nothing is learnt from and that goes as this ends"
        )
        parser.add_argument("--context", action="store_true", help="before each reply, show what the model is given")

    def handle(self, *args: Any, **options: Any) -> None:
        with quiet_log():
            self._converse(options)

    def _converse(self, options: dict[str, Any]) -> None:
        user = asking(options["user"])
        conversation = Conversation(
            user=user,
            assistant=options["assistant"],
            model=options["model"],
            thread=None if options["temporary"] else threads_id(user, options["thread"]),
            temporary=options["temporary"],
            shows_context=options["context"],
            write=self._write,
            note=lambda line: self.stderr.write(line, self.style.NOTICE),
        )
        completed = True
        if conversation.temporary:
            conversation.note("Temporary chat: nothing of it is kept or learnt, and nothing remembered is used in it.")
        with engine() as runner:
            for text in self._messages(options["message"]):
                completed = self._ask(runner, conversation, text)
        if conversation.thread and conversation.temporary:
            deletion.delete_thread(threads.get(user, conversation.thread))
            self.stderr.write("The temporary chat is closed, and gone.")
        elif conversation.thread:
            self.stderr.write(f"Go on with: manage.py chat --user {user} --thread {conversation.thread}")
        if not completed:
            raise CommandError("The last reply was not completed; the message is stored.")

    def _ask(self, runner: asyncio.Runner, conversation: Conversation, text: str) -> bool:
        try:
            completed = runner.run(conversation.enter(text) if sys.stdin.isatty() else conversation.say(text))
            while conversation.questions:
                runner.run(conversation.describe_questions())
                if not sys.stdin.isatty():
                    self.stderr.write("Answer on the page /account/servers/.")
                    break
                if not runner.run(conversation.answer({id: answered() for id in conversation.questions})):
                    break
                completed = runner.run(conversation.say(GO_ON))
            return completed
        except OpenbookError as error:
            self.stderr.write(error.message)
            return False

    def _write(self, text: str) -> None:
        self.stdout.write(text, ending="")
        self.stdout.flush()

    def _messages(self, message: str | None) -> Iterator[str]:
        if message is None and sys.stdin.isatty():
            yield from typed()
        elif (text := sys.stdin.read() if message is None else message).strip():
            yield text
        else:
            raise CommandError("There is no message. Give one as an argument, by a pipe, or type it.")


def asking(name: str | None) -> User:
    """Who asks: the user of this name, or without one the only superuser."""
    active = User.objects.filter(is_active=True)
    users = list((active.filter(username=name) if name else active.filter(is_superuser=True))[:2])
    if len(users) != 1:
        raise CommandError(f"There is no active user {name!r}." if name else "Say who asks: --user NAME.")
    return users[0]


def threads_id(user: User, argument: str | None) -> Any:
    """The id of the thread to go on with; ``None`` opens one."""
    if argument in (None, threads.NEW):
        return None
    try:
        thread = (
            threads.listed(user).order_by("-updated_at").first()
            if argument == LAST
            else threads.get(user, str(argument))
        )
    except OpenbookError as error:
        raise CommandError(error.message) from error
    return thread.id if thread else None


def typed() -> Iterator[str]:
    """A line after another, until the input ends or Ctrl-C comes at the prompt."""
    with suppress(ImportError):
        import readline  # noqa: F401, PLC0415  # lines can be edited then
    with suppress(EOFError, KeyboardInterrupt):
        while True:
            if (line := input(PROMPT)).strip():
                yield line


def answered() -> str:
    """What is typed to a question; nothing at the end of the input, or after Ctrl-C."""
    with suppress(EOFError, KeyboardInterrupt):
        return input(QUESTION)
    return ""


@contextmanager
def quiet_log() -> Iterator[None]:
    """What a server's log tells of each reply would stand between the lines of the conversation."""
    logger = logging.getLogger("openbook")
    level = logger.level
    logger.setLevel(logging.WARNING)
    try:
        yield
    finally:
        logger.setLevel(level)


@contextmanager
def engine() -> Iterator[asyncio.Runner]:
    """What runs replies in this process; those that still run in the end are kept as interrupted."""
    with engine_running(), asyncio.Runner() as runner:
        runner.run(replies.startup())
        try:
            yield runner
        finally:
            runner.run(replies.drain())
            close_pool()
