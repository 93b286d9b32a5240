"""Our `mcp-client` against the official SDK's server: one function per operation of the matrix."""

import asyncio
import contextlib
import json
import os
import re
import select
from dataclasses import dataclass
from typing import Any

from harness import LARGE_TEXT, MODERN, UNICODE_TEXT, Expected, NotApplicable, check, check_equal, shorten

OK, TOOL_SAID_NO, USAGE, PROTOCOL_ERROR = 0, 1, 2, 5


@dataclass
class Answer:
    status: int
    out: str
    err: str

    def json(self) -> Any:
        try:
            return json.loads(self.out)
        except ValueError:
            check(False, f"stdout is not one JSON value: {shorten(self.out)}; stderr: {shorten(self.err)}")


@dataclass
class CLI:
    """`mcp-client` with a fixed target and revision; `era` None leaves the choice to the client."""

    program: str
    target: str | list[str]
    era: str | None
    served: str  # the revision that must be spoken
    expected: Expected
    environment: dict[str, str]
    large_file: str
    streams: bool = True  # the server can send notifications before its answer

    async def run(
        self,
        *words: str,
        flags: tuple[str, ...] = (),
        status: int = OK,
        stderr: int = asyncio.subprocess.PIPE,
    ) -> Answer:
        """Runs `mcp-client FLAGS COMMAND TARGET OPERANDS`, or with the program after `--`."""
        chosen = [*(("--protocol", self.era) if self.era else ()), *flags]
        if isinstance(self.target, str):
            command = [self.program, *chosen, words[0], self.target, *words[1:]]
        else:
            command = [self.program, *chosen, *words, "--", *self.target]
        process = await asyncio.create_subprocess_exec(
            *command,
            stdin=asyncio.subprocess.DEVNULL,
            stdout=asyncio.subprocess.PIPE,
            stderr=stderr,
            env=self.environment,
        )
        try:
            out, err = await process.communicate()
        except BaseException:
            with contextlib.suppress(ProcessLookupError):
                process.kill()
            raise
        answer = Answer(process.returncode or 0, out.decode(), (err or b"").decode(errors="replace"))
        if answer.status != status:
            shown = " ".join(shorten(word, 40) for word in words)
            check(
                False,
                f"`{shown}` ended with {answer.status}, not {status}: {shorten(answer.err or answer.out)}",
            )
        return answer

    async def result(self, *words: str, flags: tuple[str, ...] = ()) -> Any:
        """The result object as it was on the wire."""
        return (await self.run(*words, flags=("--json", *flags))).json()

    async def error_code(self, *words: str) -> int:
        """The JSON-RPC code of a request the server must refuse, from the one line on stderr."""
        answer = await self.run(*words, flags=("--json",), status=PROTOCOL_ERROR)
        check_equal(answer.out, "", "stdout of a failure")
        for line in answer.err.splitlines():
            with contextlib.suppress(ValueError, KeyError, TypeError):
                error = json.loads(line)["error"]
                check_equal(error["code"], PROTOCOL_ERROR, "code of the error line")
                check(error["message"], "the error line has no message")
                return error["rpcCode"]
        check(False, f"no error line with rpcCode on stderr: {shorten(answer.err)}")
        raise AssertionError


def names(listing: Any, member: str, key: str) -> dict[str, Any]:
    return {item[key]: item for item in listing[member]}


async def list_tools(cli: CLI) -> None:
    tools = names(await cli.result("tools"), "tools", "name")
    check({"echo", "add", "now", "fail", "slow"} == tools.keys(), f"tools are {sorted(tools)}")
    check_equal(sorted(tools["add"]["inputSchema"]["required"]), ["a", "b"], "required arguments of add")
    shown = (await cli.run("tools")).out
    for name in tools:
        check(f"{name}(" in shown, f"{name} is missing in the list a person reads: {shorten(shown)}")


async def call(cli: CLI) -> None:
    check_equal((await cli.run("call", "echo", "text=000123")).out, "000123\n", "stdout")
    check_equal((await cli.run("call", "echo", '{"text":"hello"}')).out, "hello\n", "stdout")


async def structured_call(cli: CLI) -> None:
    result = await cli.result("call", "add", "a=2", "b=3")
    check_equal(result["structuredContent"], {"sum": 5}, "structuredContent")
    check_equal(json.loads(result["content"][0]["text"]), {"sum": 5}, "text")
    only = await cli.run("call", "add", "a=2", "b=3", flags=("--structured",))
    check_equal(only.json(), {"sum": 5}, "output of --structured")


async def progress(cli: CLI) -> None:
    """Progress is asked for and shown only where a person sees it, so that stderr is a terminal here."""
    terminal, stderr = os.openpty()
    try:
        answer = await cli.run("call", "slow", "seconds=0.8", stderr=stderr)
        os.set_blocking(terminal, False)
        shown = os.read(terminal, 65536).decode() if select.select([terminal], [], [], 0)[0] else ""
    finally:
        os.close(stderr)
        os.close(terminal)
    check_equal(answer.out, "waited 0.8 s\n", "stdout")
    if not cli.streams:
        raise NotApplicable("one JSON body cannot carry progress; that the call itself works was checked")
    check(re.search(r"slow .* \d+%", shown), f"no progress on the terminal: {shorten(repr(shown))}")


async def tool_error(cli: CLI) -> None:
    answer = await cli.run("call", "fail", "reason=Ümlaut", status=TOOL_SAID_NO)
    check("failed on purpose: Ümlaut" in answer.err, f"stderr is {shorten(answer.err)}")
    answer = await cli.run("call", "fail", flags=("--json",), status=TOOL_SAID_NO)
    check_equal(answer.json()["isError"], True, "isError")


async def unknown_tool(cli: CLI) -> None:
    answer = await cli.run("call", "ech", "text=x", status=PROTOCOL_ERROR)
    check("ech" in answer.err and "echo" in answer.err, f"no suggestion on stderr: {shorten(answer.err)}")


async def invalid_arguments(cli: CLI) -> None:
    answer = await cli.run("call", "add", "a=two", "b=3", status=USAGE)
    check("two" in answer.err, f"stderr is {shorten(answer.err)}")
    await cli.run("call", "add", "a=2", status=USAGE)
    sent = await cli.run("call", "add", 'a:="two"', "b=3", flags=("--no-validate",), status=TOOL_SAID_NO)
    check("validation error" in sent.err, f"the server's text is not shown: {shorten(sent.err)}")


async def list_resources(cli: CLI) -> None:
    resources = names(await cli.result("resources"), "resources", "uri")
    check({"demo:///hello", "demo:///large"} == resources.keys(), f"resources are {sorted(resources)}")
    check("demo:///hello" in (await cli.run("resources")).out, "the list a person reads lacks demo:///hello")


async def read(cli: CLI) -> None:
    check_equal((await cli.run("read", "demo:///hello")).out, "Hello, world!\n", "stdout")
    contents = (await cli.result("read", "demo:///hello"))["contents"]
    check_equal(contents[0]["mimeType"], "text/plain", "mimeType")
    check_equal(contents[0]["text"], "Hello, world!\n", "text")


async def missing_resource(cli: CLI) -> None:
    check_equal(await cli.error_code("read", "demo:///missing"), cli.expected.missing_resource, "code")


async def list_templates(cli: CLI) -> None:
    templates = names(await cli.result("templates"), "resourceTemplates", "uriTemplate")
    check_equal(list(templates), ["demo:///greeting/{name}"], "templates")


async def read_through_template(cli: CLI) -> None:
    check_equal((await cli.run("read", "demo:///greeting/Ada")).out.rstrip("\n"), "Hello, Ada!", "stdout")
    answer = await cli.run("read", "demo:///greeting/Zo%C3%AB")
    check_equal(answer.out.rstrip("\n"), "Hello, Zoë!", "stdout")


async def list_prompts(cli: CLI) -> None:
    prompts = names(await cli.result("prompts"), "prompts", "name")
    arguments = {item["name"]: bool(item.get("required")) for item in prompts["summarize"]["arguments"]}
    check_equal(arguments, {"text": True, "style": False}, "arguments of summarize")
    check("summarize" in (await cli.run("prompts")).out, "the list a person reads lacks summarize")


async def get_prompt(cli: CLI) -> None:
    result = await cli.result("prompt", "summarize", "text=a long story", "style=haiku")
    check_equal(result["messages"][0]["role"], "user", "role")
    text = result["messages"][0]["content"]["text"]
    check_equal(text, "Summarize in a haiku style:\na long story", "text")
    shown = (await cli.run("prompt", "summarize", "text=a long story")).out
    check("a long story" in shown, f"the prompt a person reads is {shorten(shown)}")


async def missing_prompt_argument(cli: CLI) -> None:
    code = await cli.error_code("raw", "prompts/get", '{"name":"summarize","arguments":{}}')
    check_equal(code, cli.expected.missing_prompt_argument, "code")


async def unknown_method(cli: CLI) -> None:
    check_equal(await cli.error_code("raw", "no/such_method", "{}"), -32601, "code")


async def ping_or_discover(cli: CLI) -> None:
    shown = (await cli.run("info")).out
    check("peer" in shown and "1.2.3" in shown and cli.served in shown, f"info prints {shorten(shown)}")
    await cli.run("ping")
    if cli.served == MODERN:
        result = await cli.result("raw", "server/discover")
        check(MODERN in result["supportedVersions"], f"supportedVersions are {result['supportedVersions']}")
        check_equal(await cli.error_code("raw", "ping"), -32601, "code of ping in the newest revision")
    else:
        check_equal(await cli.result("raw", "ping"), {}, "result of ping")


async def large_payload(cli: CLI) -> None:
    echoed = (await cli.run("call", "echo", f"text=@{cli.large_file}")).out.removesuffix("\n")
    check(echoed == LARGE_TEXT.removesuffix("\n"), f"1 MB came back as {len(echoed)} characters")
    resource = (await cli.run("read", "demo:///large")).out.removesuffix("\n")
    check(resource == "0123456789" * 100_000, f"the resource of 1 MB has {len(resource)} characters")


async def unicode_text(cli: CLI) -> None:
    answer = await cli.run("call", "echo", f"text={UNICODE_TEXT}")
    check_equal(answer.out.removesuffix("\n"), UNICODE_TEXT, "stdout")


ACTIONS = {
    "list tools": list_tools,
    "call": call,
    "structured call": structured_call,
    "progress": progress,
    "tool error": tool_error,
    "unknown tool": unknown_tool,
    "invalid arguments": invalid_arguments,
    "list resources": list_resources,
    "read": read,
    "missing resource": missing_resource,
    "list templates": list_templates,
    "read through template": read_through_template,
    "list prompts": list_prompts,
    "get prompt": get_prompt,
    "missing prompt argument": missing_prompt_argument,
    "unknown method": unknown_method,
    "ping or discover": ping_or_discover,
    "large payload (1 MB)": large_payload,
    "unicode text": unicode_text,
}
