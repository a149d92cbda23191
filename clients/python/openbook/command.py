"""``openbook``: Openbook for people who live in a terminal."""

import argparse
import getpass
import socket
import sys
from collections.abc import Callable, Iterator
from contextlib import suppress
from pathlib import Path

from openbook import calls, sign_in, types
from openbook.client import Client
from openbook.conversation import (
    Conversation,
    context_lines,
    newest_request,
    newest_thread,
    printable,
    waiting_call,
)
from openbook.errors import ApiError, OpenbookError
from openbook.progress import MessageOptions

PROMPT = "> "
LAST = "last"
SEARCH_CHARS = 200
Arguments = argparse.Namespace


class CommandError(Exception):
    """What the person is told; the command ends with 1."""


def note(line: str) -> None:
    print(line, file=sys.stderr, flush=True)


def write(text: str) -> None:
    print(text, end="", flush=True)


def is_terminal() -> bool:
    return sys.stdin.isatty()


def ask(question: str) -> str:
    """What is typed, on a line of standard error; nothing at the end of the input."""
    print(question, end="", file=sys.stderr, flush=True)
    with suppress(EOFError):
        return input()
    return ""


def signed_in() -> Client:
    stored = sign_in.read()
    if stored is None:
        raise CommandError("Sign in first: openbook login URL")
    return Client(stored.url, stored.token)


def login(arguments: Arguments) -> None:
    """Stores a token that the server knows."""
    url = arguments.url if "://" in arguments.url else f"https://{arguments.url}"
    token = "" if arguments.user else _secret("Token (none: press Enter, and sign in by name and password): ")
    if not token:
        token = _token_for_password(url, arguments.user or ask("User name: "))
    with Client(url, token) as client:
        described = client.send(calls.tokens_current_get())
    sign_in.write(sign_in.SignIn(url, token))
    note(f"Signed in at {url} with the token “{printable(described['name'])}”, stored in {sign_in.path()}.")


def _secret(question: str) -> str:
    return (getpass.getpass(question) if is_terminal() else sys.stdin.readline()).strip()


def _token_for_password(url: str, user: str) -> str:
    request: types.TokenRequest = {
        "username": user, "password": _secret("Password: "), "name": f"openbook on {socket.gethostname()}"[:80],
    }  # fmt: skip
    with Client(url) as client:
        try:
            return client.send(calls.auth_token_create(request))["token"]
        except ApiError as error:
            if error.code != "second_factor_needed":
                raise
            return client.send(calls.auth_token_create({**request, "code": _secret("Code of your app: ")}))["token"]


def logout(arguments: Arguments) -> None:
    """Revokes the stored token, and forgets it."""
    with signed_in() as client:
        client.send(calls.tokens_delete(client.send(calls.tokens_current_get())["id"]))
    sign_in.forget()
    note("Signed out: the token works no longer.")


def chat(arguments: Arguments) -> None:
    """A line after another, until Ctrl-D; a reply that is still written in the thread is shown first."""
    with signed_in() as client:
        conversation = _conversation(client, arguments)
        if conversation.thread:
            thread = client.send(calls.threads_get(conversation.thread))
            note(printable(thread["title"]))
            if thread["running_reply"]:
                conversation.show(client.resume(thread["running_reply"]))
        for line in _typed():
            try:
                conversation.say(line)
            except OpenbookError as error:
                note(printable(str(error)))
        if conversation.thread:
            note(f"Go on with: openbook chat --thread {conversation.thread}")


def _typed() -> Iterator[str]:
    if not is_terminal():
        yield from (line.strip() for line in sys.stdin if line.strip())
        return
    with suppress(ImportError):
        import readline  # noqa: F401, PLC0415  # lines can be edited then
    with suppress(EOFError, KeyboardInterrupt):
        while True:
            if (line := input(PROMPT)).strip():
                yield line


def ask_once(arguments: Arguments) -> None:
    """One message, of the arguments and of what comes by a pipe."""
    piped = "" if is_terminal() else sys.stdin.read().strip()
    text = "\n\n".join(part for part in (" ".join(arguments.text), piped) if part)
    if not text:
        raise CommandError("There is no message. Give one as arguments, or by a pipe.")
    with signed_in() as client:
        files = [client.upload(path)["id"] for path in arguments.file]
        conversation = _conversation(client, arguments)
        if files:
            conversation.options["files"] = files
        if not conversation.say(text):
            raise CommandError("The reply was not completed; the message is stored.")


def _conversation(client: Client, arguments: Arguments) -> Conversation:
    options: MessageOptions = {"assistant": arguments.assistant, "model": arguments.model or ""}
    newest = newest_thread(client) if arguments.thread == LAST else None
    return Conversation(
        client=client,
        thread=newest["id"] if newest else None if arguments.thread == LAST else arguments.thread,
        options=options,
        write=write,
        note=note,
        ask=ask if is_terminal() else None,
    )


def threads(arguments: Arguments) -> None:
    with signed_in() as client:
        for thread in client.send(calls.threads_list(q=arguments.query, page_size=arguments.number))["results"]:
            print(f"{thread['id']}  {thread['updated_at'][:16].replace('T', ' ')}  {printable(thread['title'])}")


def search(arguments: Arguments) -> None:
    """What would be recalled, best first."""
    with signed_in() as client:
        for found in client.search(" ".join(arguments.query)):
            where = found["source"]["thread"] or f"note {found['source']['id']}"
            print(
                f"{found['created_at'][:10]}  {printable(' '.join(found['content'].split()))[:SEARCH_CHARS]}  ({where})"
            )


def book(arguments: Arguments) -> None:
    """What the model was given for an answer, and what was left out and why."""
    with signed_in() as client:
        body = client.send(calls.requests_get(arguments.request)) if arguments.request else _newest(client)
        for line in context_lines(body):
            print(line)
        if arguments.text:
            for section in body["sections"]:
                print(f"\n--- {section['name']}\n{printable(section['text'])}")


def _newest(client: Client) -> types.SnapshotAnswer:
    thread = newest_thread(client)
    body = newest_request(client, thread["id"]) if thread else None
    if body is None:
        raise CommandError("Nothing was asked yet.")
    return body


def remember(arguments: Arguments) -> None:
    with signed_in() as client:
        print(client.remember(" ".join(arguments.text))["id"])


def memories(arguments: Arguments) -> None:
    with signed_in() as client:
        for memory in client.send(calls.memories_list(q=arguments.query))["results"]:
            print(f"{memory['id']}  {printable(' '.join(memory['content'].split()))}")


def forget(arguments: Arguments) -> None:
    """Says first what would go with the note."""
    with signed_in() as client:
        content = client.send(calls.memories_get(arguments.memory))["content"]
        goes = client.send(calls.memories_forgetting_get(arguments.memory))
        note(f"“{printable(content)}” and what repeats it: {len(goes['memories'])} notes, {len(goes['turns'])} turns.")
        if is_terminal() and not arguments.yes and ask("Forget it for good? [y/N] ").strip().lower()[:1] != "y":
            return
        client.forget(arguments.memory)
        note("Forgotten.")


def answer(arguments: Arguments) -> None:
    """Whether a call of a tool that may change something may be made; without a call those that wait."""
    with signed_in() as client:
        if arguments.call is None:
            for call in client.all(calls.mcp_calls_list()):
                if call["state"] == "asked":
                    print(f"{call['id']}  {printable(call['tool'])}  (thread {call['thread']})")
            return
        if arguments.answer is None or waiting_call(client, arguments.call) is None:
            raise CommandError("Say: openbook answer CALL once|thread|always|no, for one that `openbook answer` lists.")
        client.send(calls.mcp_calls_answer_create(arguments.call, {"answer": arguments.answer}))


def parser() -> argparse.ArgumentParser:
    top = argparse.ArgumentParser(prog="openbook", description="Openbook in the terminal.")
    commands = top.add_subparsers(metavar="COMMAND", required=True)

    def command(name: str, run: Callable[[Arguments], None], about: str) -> argparse.ArgumentParser:
        made = commands.add_parser(name, help=about, description=about)
        made.set_defaults(run=run)
        return made

    signing = command("login", login, "sign in at a server with a token, or by name and password")
    signing.add_argument("url", metavar="URL")
    signing.add_argument("--user", help="sign in as this user, by password")
    command("logout", logout, "revoke the stored token")
    for made in (
        command("chat", chat, "talk, until Ctrl-D; Ctrl-C stops a reply"),
        asking := command("ask", ask_once, "ask one thing; more of it may come by a pipe"),
    ):
        made.add_argument("--thread", metavar="ID", help="the thread to go on with, or `last` (a new one)")
        made.add_argument("--assistant", metavar="SLUG", help="who answers in a new thread")
        made.add_argument("--model", metavar="ID", help="which model answers, of those offered")
    asking.add_argument("text", nargs="*", metavar="TEXT")
    asking.add_argument("--file", type=Path, action="append", default=[], help="a file that goes with it")
    listing = command("threads", threads, "the newest threads")
    listing.add_argument("query", nargs="?", help="those with these words")
    listing.add_argument("--number", type=int, default=20, help="how many (20)")
    command("search", search, "what would be recalled for these words").add_argument("query", nargs="+")
    looking = command("book", book, "what a model was given for an answer, and what was left out and why")
    looking.add_argument("request", nargs="?", metavar="REQUEST", help="id of the request (the newest one)")
    looking.add_argument("--last", action="store_true", help="the newest one")
    looking.add_argument("--text", action="store_true", help="with the text of each section")
    command("remember", remember, "note something").add_argument("text", nargs="+")
    command("memories", memories, "what is remembered").add_argument("query", nargs="?", help="those with these words")
    forgetting = command("forget", forget, "forget a note for good")
    forgetting.add_argument("memory", metavar="ID")
    forgetting.add_argument("--yes", action="store_true", help="without being asked")
    answering = command("answer", answer, "say whether a tool may do what it asks for; without more: what waits")
    answering.add_argument("call", nargs="?", metavar="CALL")
    answering.add_argument("answer", nargs="?", choices=["once", "thread", "always", "no"])
    return top


def main(given: list[str] | None = None) -> int:
    arguments = parser().parse_args(given)
    try:
        arguments.run(arguments)
    except ApiError as error:
        note(printable(error.message) + (" Sign in again: openbook login URL" if error.status == 401 else ""))
        return 1
    except (CommandError, OpenbookError, OSError) as error:
        note(printable(str(error)))
        return 1
    except KeyboardInterrupt:
        return 130
    return 0


if __name__ == "__main__":
    sys.exit(main())
