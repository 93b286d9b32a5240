import TestSupport
import Testing

@testable import MCPCore

/// What a client makes of answers that are not valid JSON-RPC, and of what is not a message at all.
@Suite struct MalformedAnswerTests {
    /// An answer with the id of a call ends it, also when nothing can be made of it.
    @Test(
        arguments: [
            (#"{"jsonrpc":"2.0","id":ID,"result":{},"error":{"code":1,"message":"m"}}"#, "either"),
            (#"{"jsonrpc":"2.0","id":ID}"#, "\"result\" or \"error\""),
            (#"{"jsonrpc":"1.0","id":ID,"result":{}}"#, "\"jsonrpc\""),
            (#"{"id":ID,"result":{}}"#, "\"jsonrpc\""),
            (#"{"jsonrpc":"2.0","id":ID,"result":{},"result":{}}"#, "duplicate"),
            (#"{"jsonrpc":"2.0","id":ID,"result":[]}"#, "\"result\""),
            (#"{"jsonrpc":"2.0","id":ID,"error":"no"}"#, "\"error\""),
            (#"{"jsonrpc":"2.0","id":ID,"error":{"code":"E","message":"m"}}"#, "integer"),
            (#"{"jsonrpc":"2.0","id":ID,"error":{"code":1.5,"message":"m"}}"#, "integer"),
            (
                #"{"jsonrpc":"2.0","id":ID,"error":{"code":1\#(String(repeating: "0", count: 30))}}"#,
                "integer"
            ),
            (#"{"jsonrpc":"2.0","id":ID,"error":{"code":1,"message":["x"]}}"#, "string"),
            (#"[{"jsonrpc":"2.0","id":ID,"result":{}}]"#, "it is in an array"),
            (#"[7,{"jsonrpc":"2.0","id":ID,"error":{"code":1,"message":"m"}}]"#, "it is in an array"),
            (#"{"jsonrpc":"2.0","result":{}}"#, "must have \"id\""),
            (#"{"jsonrpc":"2.0","id":null,"result":{}}"#, "must have \"id\""),
            (#"{"jsonrpc":"2.0","id":"ID","result":{}}"#, "its id is the string"),
        ], [false, true])
    func malformedAnswers(_ row: (answer: String, reason: String), _ isHTTP: Bool) async throws {
        let transport = Script.modern(isHTTP: isHTTP) { _ in [.message(row.answer)] }
        let client = try await MCPClient.connect(transport.target)
        let error = await clientError { _ = try await client.request("tools/call", ["name": "x"]) }
        #expect(error?.kind == .protocolViolation)
        #expect(error?.message.hasPrefix("the response to tools/call is malformed: ") == true)
        #expect(error?.message.contains(row.reason) == true, "\(error?.message ?? "")")
        #expect(error?.details.contains { $0.contains("may have been executed") } == true)
        #expect(error?.details.contains { $0.hasPrefix("response: ") } == true)
        #expect(client.probe.requests == 0)
        await client.close()
    }

    /// Other ids, and messages with a method, end nothing.
    @Test func malformedMessagesThatAreNoAnswers() async throws {
        let transport = Script.modern { sent in
            [
                .message(#"{"jsonrpc":"2.0","id":99,"result":{},"error":{}}"#),
                .message(#"{"jsonrpc":"2.0","id":ID,"method":7}"#),
                .message(#"{"jsonrpc":"2.0","id":ID,"method":"ping","result":{}}"#),
                Script.result(#"{"n":1}"#),
            ]
        }
        let client = try await MCPClient.connect(transport.target)
        #expect(try await client.request("tools/list")["n"]?.int == 1)
        await client.close()
    }

    /// Some servers answer notifications too, which have no id: that is not the response to the call that
    /// follows. A second such response can only be that.
    @Test(arguments: [
        #"{"jsonrpc":"2.0","id":null,"error":{"code":-32601,"message":"Method not found"}}"#,
        #"{"jsonrpc":"2.0","error":{"code":-32600,"message":"no id"}}"#,
        #"{"jsonrpc":"2.0","id":null,"result":{}}"#,
    ])
    func answersToNotifications(_ answer: String) async throws {
        let transport = ScriptedTransport { sent in
            switch sent.method {
            case "server/discover": [Script.error(-32601)]
            case "initialize": [Script.result(Script.initialized())]
            case "tools/list": [.message(answer), Script.result(#"{"tools":[]}"#)]
            case "own/ask": [.message(answer)]
            default: []
            }
        }
        let client = try await MCPClient.connect(transport.target)
        #expect(try await client.request("tools/list")["tools"]?.elements?.isEmpty == true)
        // No notification was sent since the last response, so this is the response to the call.
        var ended: (any Error)?
        do { _ = try await client.request("own/ask") } catch { ended = error }
        #expect(ended is MCPError || (ended as? ClientError)?.kind == .protocolViolation, "\(ended as Any)")
        await client.close()
    }

    /// A server from before 2026-07-28 may answer the probe with an error of its own make.
    @Test func malformedAnswerToTheProbe() async throws {
        let transport = ScriptedTransport { sent in
            switch sent.method {
            case "server/discover": [.message(#"{"jsonrpc":"2.0","id":ID,"error":{"code":"no"}}"#)]
            case "initialize": [Script.result(Script.initialized())]
            default: []
            }
        }
        let client = try await MCPClient.connect(transport.target)
        #expect(client.serverInfo?.name == "old")
        await client.close()
    }

    /// What is no message has no id: calls that wait mention it at their time-out, later ones do not.
    @Test(arguments: [
        (String(repeating: "[", count: 100_000), "nested deeper"),
        ("Starting up", "unexpected character 'S'"),
        ("{}", "\"jsonrpc\" must be"), (#"{"jsonrpc":"2.0","id":9}"#, "a message must have"),
        ("[]", "a message must be a JSON object"), ("[1,2]", "a message must be a JSON object"),
        ("7", "a message must be a JSON object"), ("null", "a message must be a JSON object"),
    ])
    func unreadableLines(_ line: String, _ reason: String) async throws {
        let transport = Script.modern { $0.method == "own/ask" ? [.message(line)] : [] }
        let clock = ManualClock()
        let client = try await MCPClient.connect(transport.target, options: ClientOptions(), clock: clock)
        for (method, isNamed) in [("own/ask", true), ("tools/list", false)] {
            let answered = transport.answered
            let call = Task {
                await clientError {
                    _ = try await client.request(method, options: CallOptions(timeout: .seconds(5)))
                }
            }
            await waitUntil { transport.answered > answered }
            clock.advance(by: .seconds(5))
            let error = await call.value
            #expect(error?.kind == .timeout)
            let details = error?.details ?? []
            #expect(
                details.contains { $0.contains("not a message") && $0.contains(reason) } == isNamed,
                "\(details)")
        }
        await client.close()
    }

    /// The same when the server never came as far as a conversation.
    @Test func unreadableLinesWhileConnecting() async throws {
        var options = ClientOptions()
        // Long enough for the lines to arrive on a busy machine.
        options.connectTimeout = .seconds(2)
        let transport = ScriptedTransport { _ in [.message("Starting up")] }
        let error = await clientError { [options] in
            _ = try await MCPClient.connect(transport.target, options: options)
        }
        #expect(error?.kind == .timeout)
        #expect(error?.details.contains { $0.contains("not a message") } == true)
    }
}
