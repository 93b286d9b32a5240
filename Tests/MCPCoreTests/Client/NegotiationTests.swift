import MCPCore
import TestSupport
import Testing

/// The era table: DUAL-10 to DUAL-16, DUAL-18, LIFE-04, VER-04.
@Suite struct NegotiationTests {
    enum Outcome: Sendable, Equatable {
        case speaks(String)
        case fails(ClientError.Kind)
        case refused(Int)
    }

    struct Row: Sendable, CustomTestStringConvertible {
        let name: String
        var isHTTP = false
        var choice = ClientOptions.ProtocolChoice.auto
        /// What comes back for `server/discover`.
        let discover: [ScriptedTransport.Step]
        var initialize: [ScriptedTransport.Step] = [Script.result(Script.initialized())]
        let outcome: Outcome
        var testDescription: String { name }
    }

    static func versions(_ list: String) -> String {
        #"{"resultType":"complete","supportedVersions":[\#(list)],"capabilities":{},"#
            + #""ttlMs":0,"cacheScope":"public"}"#
    }

    static func status(_ status: Int, _ kind: ClientError.Kind = .httpStatus) -> [ScriptedTransport.Step] {
        [.failure(ClientError(kind, "HTTP \(status)", httpStatus: status))]
    }

    static let rows: [Row] = [
        // stdio: DUAL-10 to DUAL-13
        Row(
            name: "discover answered", discover: [Script.result(Script.discovered)],
            outcome: .speaks("2026-07-28")),
        Row(name: "stdio -32601", discover: [Script.error(-32601)], outcome: .speaks("2025-11-25")),
        Row(name: "stdio -32602", discover: [Script.error(-32602)], outcome: .speaks("2025-11-25")),
        Row(name: "stdio code 0", discover: [Script.error(0, "\"\"")], outcome: .speaks("2025-11-25")),
        Row(name: "stdio -32021", discover: [Script.error(-32021)], outcome: .speaks("2025-11-25")),
        Row(name: "stdio silence", discover: [], outcome: .speaks("2025-11-25")),
        Row(
            name: "stdio -32022 with a legacy version",
            discover: [Script.error(-32022, #"{"supported":["2031-01-01","2025-06-18"],"requested":"x"}"#)],
            initialize: [Script.result(Script.initialized("2025-06-18"))], outcome: .speaks("2025-06-18")),
        Row(
            name: "stdio -32022 without a common version",
            discover: [Script.error(-32022, #"{"supported":["2031-01-01"],"requested":"x"}"#)],
            outcome: .fails(.unsupportedVersion)),
        Row(
            name: "-32022 that lists what it refuses",
            discover: [Script.error(-32022, #"{"supported":["2026-07-28"],"requested":"x"}"#)],
            outcome: .refused(-32022)),
        Row(
            name: "a result that is no DiscoverResult", discover: [Script.result("{}")],
            outcome: .speaks("2025-11-25")),
        Row(
            name: "discover lists only legacy versions",
            discover: [Script.result(versions(#""2025-06-18""#))],
            initialize: [Script.result(Script.initialized("2025-06-18"))], outcome: .speaks("2025-06-18")),
        Row(
            name: "discover lists only future versions",
            discover: [Script.result(versions(#""2031-01-01""#))],
            outcome: .fails(.unsupportedVersion)),
        Row(
            name: "the child dies", discover: [.closed(ClientError(.connectionClosed, "gone"))],
            outcome: .fails(.connectionClosed)),
        // HTTP: DUAL-14 to DUAL-16, DUAL-18
        Row(
            name: "http discover answered", isHTTP: true, discover: [Script.result(Script.discovered)],
            outcome: .speaks("2026-07-28")),
        Row(
            name: "http 400 without body", isHTTP: true, discover: status(400), outcome: .speaks("2025-11-25")
        ),
        Row(
            name: "http 404 without body", isHTTP: true, discover: status(404), outcome: .speaks("2025-11-25")
        ),
        Row(
            name: "http 405 without body", isHTTP: true, discover: status(405), outcome: .speaks("2025-11-25")
        ),
        Row(
            name: "http 400 -32000", isHTTP: true, discover: [Script.error(-32000, status: 400)],
            outcome: .speaks("2025-11-25")),
        Row(
            name: "http 404 -32601", isHTTP: true, discover: [Script.error(-32601, status: 404)],
            outcome: .speaks("2025-11-25")),
        Row(
            name: "http 200 -32601", isHTTP: true, discover: [Script.error(-32601)],
            outcome: .speaks("2025-11-25")),
        Row(
            name: "http -32020", isHTTP: true, discover: [Script.error(-32020, status: 400)],
            outcome: .refused(-32020)),
        Row(
            name: "http -32021", isHTTP: true, discover: [Script.error(-32021, status: 400)],
            outcome: .refused(-32021)),
        Row(
            name: "http -32022 with a legacy version", isHTTP: true,
            discover: [Script.error(-32022, #"{"supported":["2025-06-18"]}"#, status: 400)],
            initialize: [Script.result(Script.initialized("2025-06-18"))], outcome: .speaks("2025-06-18")),
        Row(
            name: "http 401", isHTTP: true, discover: status(401, .authentication),
            outcome: .fails(.authentication)),
        Row(
            name: "http 403", isHTTP: true, discover: status(403, .authentication),
            outcome: .fails(.authentication)),
        Row(name: "http 500", isHTTP: true, discover: status(500), outcome: .fails(.httpStatus)),
        Row(
            name: "http refused", isHTTP: true, discover: [.failure(ClientError(.cannotConnect, "refused"))],
            outcome: .fails(.cannotConnect)),
        Row(name: "http silence", isHTTP: true, discover: [], outcome: .fails(.timeout)),
        // The handshake
        Row(
            name: "counter-offer that is known", discover: [Script.error(-32601)],
            initialize: [Script.result(Script.initialized("2024-11-05"))], outcome: .speaks("2024-11-05")),
        Row(
            name: "counter-offer that is not known", discover: [Script.error(-32601)],
            initialize: [Script.result(Script.initialized("1.0"))], outcome: .fails(.unsupportedVersion)),
        Row(
            name: "initialize refused", discover: [Script.error(-32601)], initialize: [Script.error(-32603)],
            outcome: .refused(-32603)),
        Row(
            name: "initialize refused by a modern server", discover: [Script.error(-32601)],
            initialize: [Script.error(-32022, #"{"supported":["2026-07-28"]}"#)],
            outcome: .fails(.unsupportedVersion)),
        Row(
            name: "initialize unanswered", discover: [Script.error(-32601)], initialize: [],
            outcome: .fails(.timeout)),
        // One revision exactly
        Row(
            name: "exactly legacy", choice: .exactly(.v2025_06_18), discover: [],
            initialize: [Script.result(Script.initialized("2025-06-18"))], outcome: .speaks("2025-06-18")),
        Row(
            name: "exactly legacy, another offered", choice: .exactly(.v2025_06_18), discover: [],
            initialize: [Script.result(Script.initialized("2025-11-25"))],
            outcome: .fails(.unsupportedVersion)),
        Row(
            name: "exactly modern", choice: .exactly(.v2026_07_28),
            discover: [Script.result(Script.discovered)],
            outcome: .speaks("2026-07-28")),
        Row(
            name: "exactly modern, legacy server", choice: .exactly(.v2026_07_28),
            discover: [Script.error(-32601)],
            outcome: .fails(.unsupportedVersion)),
        Row(
            name: "exactly unknown", choice: .exactly(ProtocolVersion("2031-01-01")), discover: [],
            outcome: .fails(.unsupportedVersion)),
    ]

    @Test(arguments: rows) func era(_ row: Row) async throws {
        let transport = ScriptedTransport(isHTTP: row.isHTTP) { sent in
            switch sent.method {
            case "server/discover": row.discover
            case "initialize": row.initialize
            default: []
            }
        }
        var options = ClientOptions()
        options.protocol = row.choice
        // Short where silence is meant, and long enough for a busy machine elsewhere.
        options.connectTimeout = row.outcome == .fails(.timeout) ? .milliseconds(200) : .seconds(60)
        options.probeTimeout = row.discover.isEmpty ? .milliseconds(30) : .seconds(20)
        let outcome: Outcome
        do {
            let client = try await MCPClient.connect(transport.target, options: options)
            outcome = .speaks(client.protocolVersion.text)
            let isLegacy = !client.protocolVersion.isModern
            #expect(transport.methods.contains("notifications/initialized") == isLegacy)  // LIFE-05
            await client.close()
        } catch let error as ClientError {
            outcome = .fails(error.kind)
        } catch let error as MCPError {
            outcome = .refused(error.code)
        }
        #expect(outcome == row.outcome)
        // LIFE-04: whatever went wrong, the connection is ended.
        #expect(transport.closings > 0)
        // LIFE-09: the opening requests are never cancelled by notification.
        #expect(!transport.methods.contains("notifications/cancelled"))
        if case .exactly(let version) = row.choice, !version.isModern {
            #expect(!transport.methods.contains("server/discover"))
        }
    }

    @Test func modernProfile() async throws {
        let transport = Script.modern { _ in [] }
        let client = try await MCPClient.connect(transport.target)
        #expect(client.serverInfo?.name == "s")
        #expect(client.supportedVersions == ["2026-07-28"])
        #expect(client.serverCapabilities.hasTools)
        let meta = transport.sent[0].json["params"]?["_meta"]
        #expect(meta?["io.modelcontextprotocol/protocolVersion"]?.string == "2026-07-28")  // VER-01, VER-09
        // META-05 to META-07
        #expect(meta?["io.modelcontextprotocol/clientCapabilities"]?.bytes.count == 2)
        #expect(meta?["io.modelcontextprotocol/clientInfo"]?["name"]?.string == "swift-mcp-core")
        await client.close()
    }

    // DUAL-19: the era is found out once.
    @Test(arguments: [false, true]) func theEraIsRemembered(_ isHTTP: Bool) async throws {
        for isLegacy in [false, true] {
            let answer = [Script.result(#"{"resultType":"complete","tools":[],"ttlMs":0}"#)]
            let transport =
                isLegacy
                ? Script.legacy(isHTTP: isHTTP) { _ in answer }
                : Script.modern(isHTTP: isHTTP) { _ in answer }
            let client = try await MCPClient.connect(transport.target)
            for _ in 0 ..< 3 { _ = try await client.listTools() }
            #expect(transport.methods.count { $0 == "server/discover" } == 1)
            #expect(transport.methods.count { $0 == "initialize" } == (isLegacy ? 1 : 0))
            await client.close()
        }
    }

    @Test func legacyProfile() async throws {
        let transport = Script.legacy { _ in [] }
        let client = try await MCPClient.connect(transport.target)
        #expect(client.serverInfo?.name == "old")
        let opening = transport.sent[1].json["params"]
        #expect(opening?["protocolVersion"]?.string == "2025-11-25")  // LIFE-01
        #expect(opening?["_meta"] == nil)
        #expect(transport.sent[1].revision == nil)
        #expect(transport.sent[2].revision == "2025-11-25")
        await client.close()
    }

    @Test func echoIsNoServer() async throws {
        let transport = ScriptedTransport { [.message($0.text)] }
        let error = await clientError { _ = try await MCPClient.connect(transport.target) }
        #expect(error?.kind == .protocolViolation)
        #expect(error?.message.contains("echoes") == true)
    }
}
