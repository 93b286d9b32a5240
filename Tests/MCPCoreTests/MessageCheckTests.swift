import MCPCore
import TestSupport
import Testing

/// The check of messages against the official schemas can fail.
@Suite(.enabled(if: WireSchemas.shared != nil, "MCP_SCHEMAS is not set")) struct MessageCheckTests {
    struct Conversation: Sendable, CustomTestStringConvertible {
        let name: String
        var version = "2026-07-28"
        /// What each side says; the last message is the one in question.
        let messages: [(Side, String)]
        /// What a violation names; nil when the last message is right.
        let problem: String?
        var testDescription: String { name }
    }

    private static let meta =
        #""_meta":{"io.modelcontextprotocol/protocolVersion":"2026-07-28","io.modelcontextprotocol/clientCapabilities":{}}"#

    private static func ask(_ method: String, _ params: String = "", id: String = "1") -> (Side, String) {
        let params = params.isEmpty ? meta : "\(params),\(meta)"
        return (.client, #"{"jsonrpc":"2.0","id":\#(id),"method":"\#(method)","params":{\#(params)}}"#)
    }

    private static func result(_ result: String, id: String = "1") -> (Side, String) {
        (.server, #"{"jsonrpc":"2.0","id":\#(id),"result":\#(result)}"#)
    }

    private static func error(_ error: String, id: String = #""id":1,"#) -> (Side, String) {
        (.server, #"{"jsonrpc":"2.0",\#(id)"error":\#(error)}"#)
    }

    private static func meta(_ key: String) -> (Side, String) {
        (
            .server,
            #"{"jsonrpc":"2.0","method":"notifications/progress","params":{"progressToken":1,"progress":1,"_meta":{"\#(key)":1}}}"#
        )
    }

    private static let call = ask("tools/call", #""name":"a""#)
    private static let oldCall: (Side, String) = (
        .client, #"{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"a"}}"#
    )
    private static let task =
        #""taskId":"k","createdAt":"2026-08-01T10:00:00Z","lastUpdatedAt":"2026-08-01T10:00:00Z","ttlMs":null"#

    private static let results: [Conversation] = [
        .init(
            name: "result", messages: [call, result(#"{"resultType":"complete","content":[]}"#)], problem: nil
        ),
        .init(
            name: "result without resultType", messages: [call, result(#"{"content":[]}"#)],
            problem: "JSONRPCResultResponse /result"),
        .init(
            name: "content that is none",
            messages: [call, result(#"{"resultType":"complete","content":[{"type":"text"}]}"#)],
            problem: "CallToolResult /result/content/0"),
        .init(
            name: "result of another method",
            messages: [ask("tools/list"), result(#"{"resultType":"complete","content":[]}"#)],
            problem: "ListToolsResult /result"),
        .init(
            name: "discover without versions",
            messages: [
                ask("server/discover"),
                result(#"{"resultType":"complete","capabilities":{},"ttlMs":0,"cacheScope":"public"}"#),
            ], problem: "DiscoverResult /result"),
        .init(
            name: "input required",
            messages: [call, result(#"{"resultType":"input_required","requestState":"x"}"#)],
            problem: nil),
        .init(
            name: "input required, wrong request",
            messages: [
                call,
                result(
                    #"{"resultType":"input_required","inputRequests":{"a":{"method":"elicitation/create"}}}"#),
            ], problem: "InputRequiredResult /result/inputRequests/a"),
        .init(
            name: "input required where it cannot be",
            messages: [ask("tools/list"), result(#"{"resultType":"input_required"}"#)],
            problem: "tools/list must not be answered with input_required"),
        .init(
            name: "unknown resultType", messages: [call, result(#"{"resultType":"done","content":[]}"#)],
            problem: "is no resultType"),
        .init(
            name: "initialize without serverInfo", version: "2025-06-18",
            messages: [
                (
                    .client,
                    #"{"jsonrpc":"2.0","id":1,"method":"initialize","params":{"protocolVersion":"2025-06-18","capabilities":{},"clientInfo":{"name":"c","version":"1"}}}"#
                ), result(#"{"protocolVersion":"2025-06-18","capabilities":{}}"#),
            ], problem: "InitializeResult /result"),
        .init(
            name: "old result", version: "2024-11-05", messages: [oldCall, result(#"{"content":[]}"#)],
            problem: nil),
        .init(
            name: "block of a later revision", version: "2024-11-05",
            messages: [
                oldCall, result(#"{"content":[{"type":"audio","data":"","mimeType":"audio/wav"}]}"#),
            ], problem: "CallToolResult /result/content/0"),
        .init(
            name: "task", messages: [call, result(#"{"resultType":"task","status":"working",\#(task)}"#)],
            problem: nil),
        .init(
            name: "task without its state", messages: [call, result(#"{"resultType":"task",\#(task)}"#)],
            problem: "CreateTaskResult /result"),
        .init(
            name: "completed task without its result",
            messages: [
                ask("tasks/get", #""taskId":"k""#),
                result(#"{"resultType":"complete","status":"completed",\#(task)}"#),
            ], problem: "GetTaskResult /result"),
    ]

    private static let errors: [Conversation] = [
        .init(name: "error", messages: [call, error(#"{"code":-32602,"message":"no"}"#)], problem: nil),
        .init(
            name: "error without id", messages: [error(#"{"code":-32700,"message":"no"}"#, id: "")],
            problem: nil),
        .init(
            name: "error without message", messages: [call, error(#"{"code":-32602}"#)],
            problem: "JSONRPCErrorResponse /error"),
        .init(
            name: "error with null id",
            messages: [error(#"{"code":-32700,"message":"no"}"#, id: #""id":null,"#)],
            problem: "JSONRPCErrorResponse /id"),
        .init(
            name: "old error with null id", version: "2025-06-18",
            messages: [error(#"{"code":-32700,"message":"no"}"#, id: #""id":null,"#)], problem: nil),
        .init(
            name: "old error with a text as code", version: "2025-06-18",
            messages: [error(#"{"code":"x","message":"no"}"#)], problem: "JSONRPCError /error/code"),
        .init(
            name: "unsupported version without data",
            messages: [call, error(#"{"code":-32022,"message":"no"}"#)],
            problem: "UnsupportedProtocolVersionError /error"),
    ]

    private static let calls: [Conversation] = [
        .init(name: "request", messages: [call], problem: nil),
        // META-01, META-02
        .init(
            name: "key of _meta", messages: [meta("1x.example/a")],
            problem: "1x.example/a has no proper prefix"
        ),
        .init(name: "name in _meta", messages: [meta("com.example/a-")], problem: "has no proper name"),
        .init(name: "own key of _meta", messages: [meta("com.example.mcp/a_b.c")], problem: nil),
        // META-03
        .init(
            name: "reserved key of _meta", messages: [meta("com.mcp.tools/a")],
            problem: "com.mcp.tools/a is reserved"),
        // META-15
        .init(name: "trace", messages: [meta("traceparent")], problem: "traceparent is no trace context"),
        .init(
            name: "request without _meta",
            messages: [(.client, #"{"jsonrpc":"2.0","id":1,"method":"tools/list","params":{}}"#)],
            problem: "ListToolsRequest /params"),
        .init(name: "call without name", messages: [ask("tools/call")], problem: "CallToolRequest /params"),
        .init(name: "null id", messages: [ask("tools/list", id: "null")], problem: "JSONRPCRequest /id"),
        .init(
            name: "request of an older revision", messages: [ask("ping")],
            problem: "2026-07-28 has no method ping"),
        // JRPC-16, STDIO-07, HTTP-19: a server that asks would be found in whatever test it does.
        .init(
            name: "server asks in 2026-07-28",
            messages: [(.server, #"{"jsonrpc":"2.0","id":1,"method":"roots/list"}"#)],
            problem: "the server must not send roots/list"),
        .init(
            name: "server asks in 2025-11-25", version: "2025-11-25",
            messages: [(.server, #"{"jsonrpc":"2.0","id":1,"method":"roots/list"}"#)], problem: nil),
        .init(
            name: "server's question without its schema", version: "2025-06-18",
            messages: [
                (
                    .server,
                    #"{"jsonrpc":"2.0","id":1,"method":"elicitation/create","params":{"message":"?"}}"#
                )
            ], problem: "ElicitRequest /params"),
        .init(
            name: "bound that is no integer", version: "2025-06-18",
            messages: [
                (
                    .server,
                    #"{"jsonrpc":"2.0","id":1,"method":"elicitation/create","params":{"message":"?","requestedSchema":{"type":"object","properties":{"a":{"type":"number","minimum":0.5}}}}}"#
                )
            ], problem: nil),
        .init(
            name: "client's answer", version: "2025-11-25",
            messages: [
                (.server, #"{"jsonrpc":"2.0","id":5,"method":"roots/list"}"#),
                (.client, #"{"jsonrpc":"2.0","id":5,"result":{"roots":[{"name":"x"}]}}"#),
            ], problem: "ListRootsResult /result/roots/0"),
        .init(
            name: "progress",
            messages: [
                (
                    .server,
                    #"{"jsonrpc":"2.0","method":"notifications/progress","params":{"progressToken":1,"progress":1}}"#
                )
            ], problem: nil),
        .init(
            name: "progress without its token",
            messages: [
                (.server, #"{"jsonrpc":"2.0","method":"notifications/progress","params":{"progress":1}}"#)
            ], problem: "ProgressNotification /params"),
        .init(
            name: "client reports progress",
            messages: [
                (
                    .client,
                    #"{"jsonrpc":"2.0","method":"notifications/progress","params":{"progressToken":1,"progress":1}}"#
                )
            ], problem: "the client must not send notifications/progress"),
        .init(
            name: "notification with an id",
            messages: [
                (
                    .client,
                    #"{"jsonrpc":"2.0","id":1,"method":"notifications/cancelled","params":{"requestId":1}}"#
                )
            ], problem: "notifications/cancelled is a CancelledNotification"),
        .init(
            name: "wrong jsonrpc",
            messages: [(.server, #"{"jsonrpc":"1.0","method":"notifications/message"}"#)],
            problem: "JSONRPCNotification /jsonrpc"),
        .init(name: "not JSON", messages: [(.server, "{")], problem: "what is not JSON"),
        .init(
            name: "wrong member of a batch", version: "2025-03-26",
            messages: [oldCall, (.server, #"[{"jsonrpc":"2.0","id":1,"result":{"content":7}}]"#)],
            problem: "CallToolResult /result/content"),
    ]

    @Test(arguments: results + errors + calls) func finds(_ conversation: Conversation) throws {
        let last = try #require(conversation.messages.last)
        // Only what our code writes is checked: the last message in one case, none in the other.
        for ours in [[last.0], []] as [Set<Side>] {
            let recorder = MessageRecorder(ours, version: conversation.version, isReporting: false)
            for (side, text) in conversation.messages { recorder.saw(text, from: side) }
            let problems = recorder.takeProblems()
            guard let problem = conversation.problem, !ours.isEmpty else {
                #expect(problems == [])
                continue
            }
            #expect(problems.contains { $0.contains(problem) }, "\(problems)")
        }
    }

    /// A violation fails the test in whose conversation it was found.
    @Test func failsTheTest() {
        withKnownIssue {
            let recorder = MessageRecorder([.server])
            recorder.saw("{", from: .server)
        } matching: { issue in
            issue.comments.contains { "\($0)".contains("what is not JSON") }
        }
    }

    /// Each revision's schema compiles as a whole, whatever today's messages use of it.
    @Test(.ownThreads, arguments: Setting.versions) func schemasCompile(_ version: String) throws {
        let schema = try #require(WireSchemas.shared?[version])
        #expect(schema.version == version)
        #expect(schema.unusable() == [])
    }
}
