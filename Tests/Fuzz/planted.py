"""Mistakes that the fuzz targets must find (`make fuzz-control`): one per kind of oracle. `old` stands once
in the file, and `new` replaces it; PLANTED is true when the mistake is chosen."""

from typing import NamedTuple


class Mistake(NamedTuple):
    name: str
    target: str
    file: str
    old: str
    new: str


MISTAKES = [
    Mistake(
        "one byte too far",
        "sse",
        "MCPCore/HTTP/ByteView.swift",
        "return unsafe firstOffset(of: ASCII.lf, in: base + start, count: count - start).map { $0 + start }",
        "return unsafe firstOffset(of: ASCII.lf, in: base + start, count: count - start + (PLANTED ? 1 : 0))"
        ".map { $0 + start }",
    ),
    Mistake(
        "a sum that traps",
        "json",
        "MCPCore/JSON/JSONDecimal.swift",
        "guard text.count - start > 17 else {",
        "guard text.count - start > (PLANTED ? 40 : 17) else {",
    ),
    Mistake(
        "a line end lost between pieces",
        "message",
        "MCPCore/JSONRPC/LineFramer.swift",
        "        searched = buffer.count\n",
        "        searched = buffer.count + (PLANTED ? 1 : 0)\n",
    ),
    Mistake(
        "a verdict that depends on cuts",
        "chunked",
        "MCPCore/HTTP/ChunkedDecoder.swift",
        "        var index = 0\n",
        "        var index = PLANTED && state == .sizeLF && view.count > 0 ? 1 : 0\n",
    ),
    Mistake(
        "a line end that becomes two",
        "sse",
        "MCPCore/HTTP/SSEEncoder.swift",
        "let isPair = view[end]",
        "let isPair = !PLANTED && view[end]",
    ),
    Mistake(
        "steep time",
        "partial",
        "MCPApps/Types/PartialJSON.swift",
        "while position < bytes.count {\n            guard step()",
        "while position < bytes.count {\n            if PLANTED { "
        "for place in 0 ..< position * 300 { "
        "goodEnd &+= place; goodEnd &-= place } }\n            guard step()",
    ),
    Mistake(
        "two readers that disagree",
        "schema",
        "MCPCore/Schema/FlatWalker.swift",
        "return unsafe value >= node.pointee.minimum",
        "return unsafe (PLANTED ? value > node.pointee.minimum : value >= node.pointee.minimum)",
    ),
    Mistake(
        "a line end in a header",
        "small",
        "MCPCore/Wire/MCPHeaderValue.swift",
        "private static func isPlain(_ byte: UInt8) -> Bool { byte >= 0x20",
        "private static func isPlain(_ byte: UInt8) -> Bool { byte >= (PLANTED ? 0x0A : 0x20)",
    ),
    Mistake(
        "a member that is not written",
        "types",
        "MCPCore/Protocol/Annotations.swift",
        'writer.member("priority", priority)',
        'if !PLANTED { writer.member("priority", priority) }',
    ),
    Mistake(
        "an exchange without an end",
        "stream",
        "MCPCore/Server/PendingRequest.swift",
        "        sink.finish(nil)\n",
        "        if !PLANTED { sink.finish(nil) }\n",
    ),
    Mistake(
        "a table entry that stays",
        "hub",
        "MCPCore/ClientTools/Hub/ClientToolHub+Calls.swift",
        "guard let call = calls.removeValue(forKey: id) else { return }",
        "guard let call = PLANTED ? calls[id] : calls.removeValue(forKey: id) else { return }",
    ),
    Mistake(
        "a request without an answer",
        "bridge",
        "MCPApps/Bridge/AppBridgeMachine+Host.swift",
        "hostRequests.union(waitingRequests.map(\\.id))",
        "hostRequests.union(PLANTED ? [] : waitingRequests.map(\\.id))",
    ),
    # Defects that audits have found in earlier versions.
    Mistake(
        "an exponent at the limit",
        "json",
        "MCPCore/JSON/JSONDecimal.swift",
        "if carry <= 0, rest.count <= 18 {",
        "if carry <= 0, rest.count <= (PLANTED ? 19 : 18) {",
    ),
    Mistake(
        "a number beyond Double",
        "types",
        "MCPCore/Protocol/WireType.swift",
        "guard number.isFinite else",
        "guard PLANTED || number.isFinite else",
    ),
    Mistake(
        "a body behind HEAD",
        "connection",
        "MCPCore/HTTPServer/HTTPConnection+Requests.swift",
        "isHead = head.method == .head\n",
        "isHead = head.method == .head && !(PLANTED && head.hasBody)\n",
    ),
    Mistake(
        "marks beside the budget",
        "pattern",
        "MCPCore/Schema/Pattern/PatternMatcher.swift",
        "guard looks == 0 || wordsPerLook <= maxMarkBytes / 8 / looks else {\n            budget = 0\n"
        "            return nil\n"
        "        }\n        // Small: at most `maxMarkBytes`, as the guard ensures.\n        "
        "marks.reserveCapacity(looks * wordsPerLook)\n        for look in program.looks {\n            "
        "// Setting up the marks also counts as work, at 64 bits per step.\n"
        "            budget -= wordsPerLook\n            guard budget > 0 else",
        "guard PLANTED || looks == 0 || wordsPerLook <= maxMarkBytes / 8 / looks else {\n"
        "            budget = 0\n"
        "            return nil\n        }\n        marks.reserveCapacity(looks * wordsPerLook)\n"
        "        for look in program.looks {\n            budget -= PLANTED ? 0 : wordsPerLook\n"
        "            guard PLANTED || budget > 0 else",
    ),
    Mistake(
        "a separator within a character",
        "small",
        "MCPCore/Platform/Files+Names.swift",
        'path.utf8.split(separator: UInt8(ascii: "/"), omittingEmptySubsequences: omittingEmpty)',
        'PLANTED ? path.split(separator: "/", omittingEmptySubsequences: omittingEmpty).map(String.init) : '
        'path.utf8.split(separator: UInt8(ascii: "/"), omittingEmptySubsequences: omittingEmpty)',
    ),
    # One for each target that has none above.
    Mistake(
        "a CR at the end of a piece",
        "request",
        "MCPCore/HTTP/HeadScanner.swift",
        "searched = max(lineStart, visible.count - 1)",
        "searched = max(lineStart, visible.count - (PLANTED ? 0 : 1))",
    ),
    Mistake(
        "a length that is not counted",
        "response",
        "MCPCore/HTTP/BodyDecoder.swift",
        "rest = .length(count - taken)",
        "rest = .length(PLANTED ? count : count - taken)",
    ),
    Mistake(
        "an escaped quote ends a string",
        "jsonc",
        "MCPCore/ConfigSyntax/JSONCParser.swift",
        'position += byte == UInt8(ascii: "\\\\") ? 2 : 1',
        'position += byte == UInt8(ascii: "\\\\") && !PLANTED ? 2 : 1',
    ),
    Mistake(
        "a line end that counts twice",
        "config",
        "MCPCore/ConfigSyntax/SourceText.swift",
        'if byte == UInt8(ascii: "\\n") { starts',
        'if byte == UInt8(ascii: "\\n") || PLANTED && byte == UInt8(ascii: "\\r") { starts',
    ),
    Mistake(
        "a status that is not promised",
        "facade",
        "MCPCore/ClientTools/ClientToolEndpoints.swift",
        'Self.json(405, ["error": "Method not allowed"]',
        'Self.json(PLANTED ? 501 : 405, ["error": "Method not allowed"]',
    ),
    Mistake(
        "a client's fault as our own",
        "endpoint",
        "MCPCore/Transport/Streamable/StreamableEndpoint.swift",
        'status: 404, text: "Unknown or expired session',
        'status: PLANTED ? 500 : 404, text: "Unknown or expired session',
    ),
    Mistake(
        "a task's request stays",
        "tasks",
        "MCPCore/Server/Tasks/RequestContext+Tasks.swift",
        "server.inFlight.remove(call.exchange.key)",
        "if !PLANTED { server.inFlight.remove(call.exchange.key) }",
    ),
    Mistake(
        "a connection closed twice",
        "client",
        "MCPCore/Transport/Client/MessageClientTransport.swift",
        "guard isFirst else { return }",
        "guard isFirst || PLANTED else { return }",
    ),
]
