import MCPCore
import Synchronization
import TestSupport
import Testing

/// A client whose requests another HTTP stack carries, however badly that behaves.
@Suite struct HTTPCarrierTests {
    /// What a carrier does with a request.
    typealias Script = @Sendable (HTTPCarrierRequest, HTTPCarrierReceiver) -> Void

    private final class ScriptedCarrier: HTTPCarrier {
        let script: Script
        let cancelled = Gate()
        let requests = Mutex<[HTTPCarrierRequest]>([])

        init(_ script: @escaping Script) { self.script = script }

        func start(_ request: HTTPCarrierRequest, _ receiver: HTTPCarrierReceiver) -> any HTTPCarrierTask {
            requests.withLock { $0.append(request) }
            script(request, receiver)
            return Started(cancelled: cancelled)
        }

        private struct Started: HTTPCarrierTask {
            let cancelled: Gate
            func cancel() { cancelled.open() }
        }
    }

    private static let discovered =
        #"{"resultType":"complete","supportedVersions":["2026-07-28"],"capabilities":{"tools":{}},"#
        + #""serverInfo":{"name":"peer","version":"1"}}"#
    private static let json = [(name: "Content-Type", value: "application/json")]

    private static func answer(
        _ result: String, to request: HTTPCarrierRequest, _ receiver: HTTPCarrierReceiver,
        fields: [(name: String, value: String)] = json
    ) {
        let id = (try? JSONValue(parsing: request.body))?["id"]?.serialized() ?? "0"
        receiver.begin(status: 200, fields: fields)
        // In two parts, as a network would.
        let bytes = Array(#"{"jsonrpc":"2.0","id":\#(id),"result":\#(result)}"#.utf8)
        receiver.receive(Array(bytes.prefix(9)))
        receiver.receive(Array(bytes.dropFirst(9)))
        receiver.finish()
    }

    /// Connects, and makes one call that the script answers.
    private func call(
        _ options: ClientOptions = ClientOptions(), _ script: @escaping Script
    ) async throws -> (error: ClientError?, carrier: ScriptedCarrier) {
        let carrier = ScriptedCarrier { request, receiver in
            if request.fields["Mcp-Method"] == "server/discover" {
                Self.answer(Self.discovered, to: request, receiver)
            } else {
                script(request, receiver)
            }
        }
        let client = try await MCPClient.connect(
            .http("https://mcp.example/mcp?x=1", carrier: carrier), options: options)
        let error = await clientError {
            _ = try await client.request(
                "tools/call", ["name": "x"], options: CallOptions(timeout: .seconds(20)))
        }
        await client.close()
        return (error, carrier)
    }

    @Test func theRequestIsTheSame() async throws {
        var options = ClientOptions(name: "app", version: "2")
        options.headers = [("X-Tenant", "a: b")]
        let (error, carrier) = try await call(options) { Self.answer(#"{"content":[]}"#, to: $0, $1) }
        #expect(error == nil)
        let request = try #require(carrier.requests.withLock { $0.last })
        #expect(request.method == "POST")
        #expect(request.url == "https://mcp.example/mcp?x=1")
        #expect(request.fields["X-Tenant"] == "a: b")
        #expect(request.fields["User-Agent"] == "app/2")
        #expect(request.fields["Mcp-Name"] == "x")
        #expect(request.fields["Host"] == nil && request.fields["Content-Length"] == nil)
        #expect(try JSONValue(parsing: request.body)["method"] == "tools/call")
    }

    /// A field cannot end the head, and those of the carrier's own connection do not count.
    @Test func fieldsThatWouldBreakTheHead() async throws {
        let (error, _) = try await call { request, receiver in
            Self.answer(
                #"{"content":[]}"#, to: request, receiver,
                fields: Self.json + [
                    ("X-Bad", "a\r\n\r\n{}"), ("Bad Name", "x"), ("", "x"), ("Content-Length", "3"),
                    ("Transfer-Encoding", "gzip"), ("Content-Encoding", "br"), ("Connection", "close"),
                ])
        }
        #expect(error == nil)
    }

    @Test func responsesThatAreNone() async throws {
        let scripts: [(ClientError.Kind, Script)] = [
            (.cannotConnect, { $1.fail("its name was not found", wasConnected: false) }),
            (.connectionClosed, { $1.fail("the connection was lost", wasConnected: true) }),
            (.connectionClosed, { $1.finish() }),
            (.protocolViolation, { $1.begin(status: -1, fields: []) }),
            (.protocolViolation, { $1.begin(status: 99_999, fields: []) }),
            (
                .connectionClosed,
                {
                    $1.begin(status: 200, fields: Self.json)
                    $1.receive(Array("{".utf8))
                    $1.fail("gone", wasConnected: true)
                }
            ),
            (
                .protocolViolation,
                {
                    $1.begin(status: 204, fields: Self.json)
                    $1.receive([1, 2, 3])
                    $1.finish()
                }
            ),
            (
                .httpStatus,
                {
                    $1.begin(status: 500, fields: [])
                    $1.finish()
                }
            ),
        ]
        for (kind, script) in scripts {
            let (error, _) = try await call(ClientOptions(), script)
            #expect(error?.kind == kind)
        }
    }

    @Test func callsOutOfOrderHaveNoEffect() async throws {
        let (error, _) = try await call { request, receiver in
            receiver.receive([1])
            Self.answer(#"{"content":[]}"#, to: request, receiver)
            receiver.begin(status: 500, fields: [])
            receiver.receive([2])
            receiver.finish()
            receiver.fail("late", wasConnected: true)
        }
        #expect(error == nil)
    }

    /// The script runs on the loop, so that nothing is read until it has returned.
    @Test func aFloodEndsTheResponse() async throws {
        for (count, fits) in [(4_096, true), (4_097, false)] {
            var options = ClientOptions()
            options.maxMessageBytes = 4_096
            let (error, _) = try await call(options) { request, receiver in
                let id = (try? JSONValue(parsing: request.body))?["id"]?.serialized() ?? "0"
                let message = #"{"jsonrpc":"2.0","id":\#(id),"result":{"content":[]}}"#
                receiver.begin(status: 200, fields: Self.json)
                receiver.receive([UInt8](repeating: 0x20, count: count - message.utf8.count))
                receiver.receive(Array(message.utf8))
                receiver.finish()
            }
            #expect(error?.kind == (fits ? nil : .protocolViolation))
        }
    }

    @Test func theLimitsOfTheClientHold() async throws {
        var options = ClientOptions()
        options.maxMessageBytes = 4_096
        let (error, carrier) = try await call(options) { _, receiver in
            receiver.begin(status: 200, fields: Self.json)
            for _ in 0 ..< 5 { receiver.receive([UInt8](repeating: 0x20, count: 1_024)) }
        }
        #expect(error?.kind == .protocolViolation)
        #expect(await carrier.cancelled.wait())
    }

    @Test func aCallThatIsGivenUpIsCancelled() async throws {
        let carrier = ScriptedCarrier { request, receiver in
            if request.fields["Mcp-Method"] == "server/discover" {
                Self.answer(Self.discovered, to: request, receiver)
            }
        }
        let client = try await MCPClient.connect(.http("https://mcp.example/mcp", carrier: carrier))
        let error = await clientError {
            _ = try await client.request(
                "tools/call", ["name": "x"], options: CallOptions(timeout: .milliseconds(500)))
        }
        #expect(error?.kind == .timeout)
        #expect(await carrier.cancelled.wait())
        await client.close()
    }
}
