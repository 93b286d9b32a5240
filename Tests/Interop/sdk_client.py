"""The official SDK's client against a server: one function per operation of the matrix."""

import contextlib
import json
from collections.abc import AsyncIterator, Awaitable
from dataclasses import dataclass
from typing import Any

import mcp_types as types
from mcp import Client
from mcp.client.session import ClientSession
from mcp.client.stdio import StdioServerParameters, stdio_client
from mcp.client.streamable_http import streamable_http_client
from mcp.shared.exceptions import MCPError

from harness import LARGE_TEXT, MODERN, UNICODE_TEXT, Expected, check, check_equal


@dataclass
class Peers:
    """One session with the demonstration server and one with a configured server of the same program."""

    era: str
    expected: Expected
    demo: ClientSession
    configured: ClientSession
    document: str  # URI of a file the configured server offers
    document_text: str


@contextlib.asynccontextmanager
async def session(
    target: str | list[str], era: str, probe: bool, log: Any, environment: dict[str, str]
) -> AsyncIterator[ClientSession]:
    """Opens a session in exactly one revision; with `probe`, `server/discover` has to find the newest."""
    if isinstance(target, str):
        transport = streamable_http_client(target)
    else:
        transport = stdio_client(
            StdioServerParameters(command=target[0], args=target[1:], env=environment), errlog=log
        )
    if era == MODERN:
        async with Client(
            transport, mode="auto" if probe else era, cache=None, read_timeout_seconds=30
        ) as client:
            check_equal(client.protocol_version, era, "negotiated version")
            yield client.session
        return
    async with (
        transport as (incoming, outgoing),
        ClientSession(incoming, outgoing, read_timeout_seconds=30) as opened,
    ):
        proposal = types.InitializeRequestParams(
            protocol_version=era,
            capabilities=types.ClientCapabilities(),
            client_info=types.Implementation(name="interop", version="1"),
        )
        result = await opened.send_request(types.InitializeRequest(params=proposal), types.InitializeResult)
        check_equal(result.protocol_version, era, "negotiated version")
        check(result.server_info.name, "serverInfo has no name")
        check(result.capabilities.tools is not None, "no tools capability")
        opened.adopt(result)
        await opened.send_notification(types.InitializedNotification())
        yield opened


async def expect_error(call: Awaitable[Any], code: int, what: str) -> MCPError:
    try:
        result = await call
    except MCPError as error:
        check_equal(error.code, code, f"code of the error for {what}")
        check(error.message, f"the error for {what} has no message")
        return error
    check(False, f"{what} was answered with {result!r} instead of error {code}")
    raise AssertionError


def text_of(result: types.CallToolResult) -> str:
    check_equal([block.type for block in result.content], ["text"], "kinds of content")
    return result.content[0].text


def text_contents(result: types.ReadResourceResult, uri: str) -> str:
    check_equal(len(result.contents), 1, "number of contents")
    check_equal(str(result.contents[0].uri), uri, "uri of the contents")
    return result.contents[0].text


async def list_tools(peers: Peers) -> None:
    tools = {tool.name: tool for tool in (await peers.demo.list_tools()).tools}
    check({"echo", "add", "slow"} <= tools.keys(), f"tools are {sorted(tools)}")
    check_equal(tools["add"].input_schema.get("type"), "object", "type of the input schema of add")
    check_equal(
        sorted(tools["add"].input_schema.get("required", [])), ["a", "b"], "required arguments of add"
    )
    check(tools["echo"].description, "echo has no description")
    if peers.expected.drops_newer_members:
        for tool in tools.values():
            if peers.era < "2025-06-18":
                check(tool.output_schema is None, f"{tool.name} has an outputSchema in {peers.era}")
                check(tool.title is None, f"{tool.name} has a title in {peers.era}")
            if peers.era < "2025-03-26":
                check(tool.annotations is None, f"{tool.name} has annotations in {peers.era}")
    check("fail" in {tool.name for tool in (await peers.configured.list_tools()).tools}, "no tool named fail")


async def call(peers: Peers) -> None:
    result = await peers.demo.call_tool("echo", {"text": "hello"})
    check_equal(text_of(result), "hello", "text")
    check(not result.is_error, "isError is set")


async def structured_call(peers: Peers) -> None:
    result = await peers.demo.call_tool("add", {"a": 2, "b": 3})
    check(not result.is_error, f"isError is set: {result.content}")
    check_equal(json.loads(text_of(result)), {"sum": 5}, "text")
    if peers.era >= "2025-06-18":
        check_equal(result.structured_content, {"sum": 5}, "structuredContent")
    elif peers.expected.drops_newer_members:
        check(result.structured_content is None, f"structuredContent in {peers.era}")
    with_schema = [tool.name for tool in (await peers.demo.list_tools()).tools if tool.output_schema]
    check("now" in with_schema or peers.era < "2025-06-18", "now has no outputSchema")
    check(json.loads(text_of(await peers.demo.call_tool("now")))["time"], "now tells no time")


async def progress(peers: Peers) -> None:
    seen: list[float] = []

    async def note(value: float, total: float | None, message: str | None) -> None:
        seen.append(value)

    result = await peers.demo.call_tool("slow", {"seconds": 0.4}, progress_callback=note)
    check(not result.is_error, "isError is set")
    check(seen, "no progress was reported")
    check_equal(seen, sorted(set(seen)), "progress values")


async def tool_error(peers: Peers) -> None:
    result = await peers.configured.call_tool("fail", {})
    check(result.is_error, "isError is not set")
    check(text_of(result), "the error has no text")


async def unknown_tool(peers: Peers) -> None:
    await faulty_call(peers, "no_such_tool", {}, peers.expected.unknown_tool)


async def invalid_arguments(peers: Peers) -> None:
    await faulty_call(peers, "add", {"a": "two", "b": 3}, peers.expected.invalid_arguments)
    await faulty_call(peers, "add", {"a": 2}, peers.expected.invalid_arguments)


async def faulty_call(peers: Peers, name: str, arguments: dict[str, Any], code: int | None) -> None:
    if code is not None:
        await expect_error(peers.demo.call_tool(name, arguments), code, f"{name} {arguments}")
        return
    result = await peers.demo.call_tool(name, arguments)
    check(result.is_error, f"isError is not set for {name} {arguments}")
    check(text_of(result), "the error has no text")


async def list_resources(peers: Peers) -> None:
    resources = {str(item.uri): item for item in (await peers.demo.list_resources()).resources}
    check("demo:///hello" in resources, f"resources are {sorted(resources)}")
    check(resources["demo:///hello"].name, "demo:///hello has no name")
    check(peers.document in await all_resources(peers.configured), f"{peers.document} is not listed")


async def all_resources(server: ClientSession) -> list[str]:
    uris: list[str] = []
    cursor: str | None = None
    for _ in range(50):
        page = await server.list_resources(params=types.PaginatedRequestParams(cursor=cursor))
        uris += [str(item.uri) for item in page.resources]
        cursor = page.next_cursor
        if cursor is None:
            return uris
    check(False, "the list of resources has no end")
    raise AssertionError


async def read(peers: Peers) -> None:
    check(
        text_contents(await peers.demo.read_resource("demo:///hello"), "demo:///hello"),
        "demo:///hello is empty",
    )
    contents = await peers.configured.read_resource(peers.document)
    check_equal(text_contents(contents, peers.document), peers.document_text, f"text of {peers.document}")


async def missing_resource(peers: Peers) -> None:
    for server, uri in [(peers.demo, "demo:///missing"), (peers.configured, peers.document + ".missing")]:
        error = await expect_error(server.read_resource(uri), peers.expected.missing_resource, uri)
        check_equal((error.data or {}).get("uri"), uri, "data.uri of the error")


async def list_templates(peers: Peers) -> None:
    templates = (await peers.demo.list_resource_templates()).resource_templates
    check(
        "demo:///greeting/{name}" in [item.uri_template for item in templates], f"templates are {templates}"
    )


async def read_through_template(peers: Peers) -> None:
    for uri in ("demo:///greeting/Ada", "demo:///greeting/Zo%C3%AB"):
        text = text_contents(await peers.demo.read_resource(uri), uri)
        check(("Ada" if uri.endswith("Ada") else "Zoë") in text, f"{uri} is {text!r}")


async def list_prompts(peers: Peers) -> None:
    prompts = {prompt.name: prompt for prompt in (await peers.demo.list_prompts()).prompts}
    check("summarize" in prompts, f"prompts are {sorted(prompts)}")
    arguments = {item.name: bool(item.required) for item in prompts["summarize"].arguments or []}
    check_equal(arguments, {"text": True, "style": False}, "arguments of summarize")


async def get_prompt(peers: Peers) -> None:
    for extra in ({}, {"style": "haiku"}):
        result = await peers.demo.get_prompt("summarize", {"text": "a long story"} | extra)
        text = "\n".join(message.content.text for message in result.messages)
        check_equal(result.messages[0].role, "user", "role")
        check("a long story" in text and extra.get("style", "") in text, f"the prompt is {text!r}")


async def missing_prompt_argument(peers: Peers) -> None:
    code = peers.expected.missing_prompt_argument
    await expect_error(peers.demo.get_prompt("summarize", {}), code, "a prompt without its argument")
    await expect_error(peers.demo.get_prompt("no_such_prompt"), code, "an unknown prompt")


async def unknown_method(peers: Peers) -> None:
    request = types.Request[types.RequestParams | None, str](
        method="no/such_method", params=types.RequestParams()
    )
    await expect_error(peers.demo.send_request(request, types.EmptyResult), -32601, "an unknown method")


async def ping_or_discover(peers: Peers) -> None:
    if peers.era != MODERN:
        await peers.demo.send_ping()
        return
    result = types.DiscoverResult.model_validate(await peers.demo.send_discover(MODERN))
    check(MODERN in result.supported_versions, f"supportedVersions are {result.supported_versions}")
    check(result.capabilities.tools is not None, "no tools capability")
    await expect_error(peers.demo.send_ping(), -32601, "ping, which the newest revision does not have")


async def large_payload(peers: Peers) -> None:
    result = await peers.demo.call_tool("echo", {"text": LARGE_TEXT})
    check(text_of(result) == LARGE_TEXT, f"1 MB came back as {len(text_of(result))} characters")


async def unicode_text(peers: Peers) -> None:
    check_equal(text_of(await peers.demo.call_tool("echo", {"text": UNICODE_TEXT})), UNICODE_TEXT, "text")


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
