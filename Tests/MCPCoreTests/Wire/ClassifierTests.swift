import Testing

@testable import MCPCore

/// What the headers of a case say; nil: the header is absent.
struct ClaimedHeaders: Sendable {
    var version: String?
    var method: String?
    var name: String?
    var repeated = false

    var claims: HeaderClaims {
        var text = ""
        func place(_ value: String?) -> Range<Int>? {
            guard let value else { return nil }
            let start = text.utf8.count
            text += value + "\r\n"
            return start ..< start + value.utf8.count
        }
        let ranges = (place(version), place(method), place(name))
        var claims = HeaderClaims(bytes: ByteSlice(text))
        (claims.version, claims.method, claims.name) = ranges
        claims.isRepeated = repeated
        return claims
    }
}

enum Judgement: Sendable, Equatable {
    case modern(Method)
    case legacy(Method, String)
    case refused(Int, status: Int)
}

struct ClassifierCase: Sendable, CustomTestStringConvertible {
    let title: String
    let message: String
    let headers: ClaimedHeaders?
    let slot: String?
    let judgement: Judgement

    init(
        _ title: String, _ message: String, _ headers: ClaimedHeaders?, slot: String? = nil,
        _ judgement: Judgement
    ) {
        self.title = title
        self.message = message
        self.headers = headers
        self.slot = slot
        self.judgement = judgement
    }

    init(_ title: String, _ message: String, slot: String? = nil, _ judgement: Judgement) {
        self.init(title, message, nil, slot: slot, judgement)
    }

    var testDescription: String { title }
}

/// The rows of Table 2 from the shape of the message to its method.
@Suite struct ClassifierTests {
    private static let modernMeta =
        #""_meta":{"io.modelcontextprotocol/protocolVersion":"2026-07-28","io.modelcontextprotocol/clientCapabilities":{}}"#

    private static func modern(_ method: String, _ members: String = "", id: String = #""id":1,"#) -> String {
        let rest = members.isEmpty ? modernMeta : members + "," + modernMeta
        return #"{"jsonrpc":"2.0",\#(id)"method":"\#(method)","params":{\#(rest)}}"#
    }

    private static func meta(_ version: String, _ capabilities: String?) -> String {
        let tail = capabilities.map { #","io.modelcontextprotocol/clientCapabilities":\#($0)"# } ?? ""
        return
            #"{"jsonrpc":"2.0","id":1,"method":"tools/list","params":{"_meta":{"io.modelcontextprotocol/protocolVersion":\#(version)\#(tail)}}}"#
    }

    private static func plain(_ method: String, _ params: String = "{}") -> String {
        #"{"jsonrpc":"2.0","id":1,"method":"\#(method)","params":\#(params)}"#
    }

    private static func note(_ method: String) -> String { #"{"jsonrpc":"2.0","method":"\#(method)"}"# }

    private static func headers(
        _ method: String?, name: String? = nil, version: String? = "2026-07-28", repeated: Bool = false
    ) -> ClaimedHeaders { ClaimedHeaders(version: version, method: method, name: name, repeated: repeated) }

    /// Step 6: the shape (JRPC-20, JRPC-21).
    static let shapes: [ClassifierCase] = [
        .init("an array", "[]", .refused(-32600, status: 400)),
        .init("an array over HTTP", "[]", headers(nil), .refused(-32600, status: 400)),
        .init("no method", #"{"jsonrpc":"2.0","id":1}"#, .refused(-32600, status: 400)),
        .init(
            "id null", #"{"jsonrpc":"2.0","id":null,"method":"ping"}"#, .refused(-32600, status: 400)),
        .init("a response", #"{"jsonrpc":"2.0","id":1,"result":{}}"#, .refused(-32600, status: 400)),
    ]

    /// Step 7: the era (DUAL-02, DUAL-03, DUAL-04).
    static let eras: [ClassifierCase] = [
        .init("claim without headers", modern("tools/list"), .modern(.toolsList)),
        .init("claim beats the slot", modern("tools/list"), slot: "2025-06-18", .modern(.toolsList)),
        .init("claim with headers", modern("tools/list"), headers("tools/list"), .modern(.toolsList)),
        .init(
            "clientInfo is no claim",
            plain("tools/list", #"{"_meta":{"io.modelcontextprotocol/clientInfo":{}}}"#),
            .refused(-32600, status: 400)),
        // META-10
        .init(
            "capabilities without a version",
            plain("tools/list", #"{"_meta":{"io.modelcontextprotocol/clientCapabilities":{}}}"#),
            .refused(-32602, status: 400)),
        .init(
            "capabilities in a session",
            plain("tools/list", #"{"_meta":{"io.modelcontextprotocol/clientCapabilities":{}}}"#),
            slot: "2025-11-25", .legacy(.toolsList, "2025-11-25")),
        .init("initialize", plain("initialize"), .legacy(.initialize, "2025-11-25")),
        .init(
            "initialize in a session", plain("initialize"), slot: "2025-03-26",
            .legacy(.initialize, "2025-03-26")),
        .init("ping before initialize", plain("ping"), .legacy(.ping, "2025-11-25")),
        .init("a call before initialize", plain("tools/list"), .refused(-32600, status: 400)),
        .init("nonsense before initialize", plain("no/such"), .refused(-32600, status: 400)),
        .init(
            "a call in a session", plain("tools/list"), slot: "2024-11-05", .legacy(.toolsList, "2024-11-05")),
        .init("nonsense in a session", plain("no/such"), slot: "2025-11-25", .refused(-32601, status: 404)),
        .init("initialized", note("notifications/initialized"), .legacy(.initialized, "2025-11-25")),
        .init(
            "discover without a claim", plain("server/discover"), slot: "2025-11-25",
            .refused(-32601, status: 404)),
        .init(
            "legacy header", plain("ping"), headers(nil, version: "2025-06-18"), .legacy(.ping, "2025-06-18")),
        .init("no header", plain("ping"), headers(nil, version: nil), .legacy(.ping, "2025-11-25")),
        // HDR-03
        .init(
            "unknown header", plain("ping"), headers(nil, version: "2031-01-01"),
            .refused(-32600, status: 400)),
        .init(
            "unknown header in a session", plain("ping"), headers(nil, version: "x"), slot: "2025-06-18",
            .refused(-32600, status: 400)),
    ]

    /// Steps 8 to 10: header against claim, the version, the rest of `_meta`.
    static let versions: [ClassifierCase] = [
        // DUAL-06
        .init(
            "modern header, no claim", plain("tools/list"), headers("tools/list"),
            .refused(-32602, status: 400)),
        // DUAL-07
        .init(
            "claim, no header", modern("tools/list"), headers("tools/list", version: nil),
            .refused(-32020, status: 400)),
        .init(
            "claim and header differ", modern("tools/list"), headers("tools/list", version: "2025-11-25"),
            .refused(-32020, status: 400)),
        .init(
            "header in another spelling", modern("tools/list"), headers("tools/list", version: "2026-07-28 "),
            .refused(-32020, status: 400)),
        .init(
            "a header twice", modern("tools/list"), headers("tools/list", repeated: true),
            .refused(-32020, status: 400)),
        .init(
            "header first, then the version", meta(#""2031-01-01""#, "{}"), headers("tools/list"),
            .refused(-32020, status: 400)),
        // VER-03
        .init("unknown version", meta(#""2031-01-01""#, "{}"), .refused(-32022, status: 400)),
        .init(
            "unknown version over HTTP", meta(#""2031-01-01""#, "{}"),
            headers("tools/list", version: "2031-01-01"),
            .refused(-32022, status: 400)),
        // DUAL-05
        .init("legacy version in _meta", meta(#""2025-11-25""#, "{}"), .refused(-32022, status: 400)),
        .init("version before capabilities", meta(#""2031-01-01""#, nil), .refused(-32022, status: 400)),
        // META-10
        .init("version is no string", meta("7", "{}"), .refused(-32602, status: 400)),
        .init("no capabilities", meta(#""2026-07-28""#, nil), .refused(-32602, status: 400)),
        .init("capabilities are no object", meta(#""2026-07-28""#, "[]"), .refused(-32602, status: 400)),
        .init("capabilities null", meta(#""2026-07-28""#, "null"), .refused(-32602, status: 400)),
    ]

    /// Steps 11 and 12: `Mcp-Method`, `Mcp-Name`, the method.
    static let methods: [ClassifierCase] = [
        .init("no Mcp-Method", modern("tools/list"), headers(nil), .refused(-32020, status: 400)),
        .init("other Mcp-Method", modern("tools/list"), headers("tools/call"), .refused(-32020, status: 400)),
        // HDR-06
        .init(
            "Mcp-Method in capitals", modern("tools/list"), headers("TOOLS/LIST"),
            .refused(-32020, status: 400)),
        // HDR-13
        .init(
            "Mcp-Method in base64", modern("tools/list"), headers("=?base64?dG9vbHMvbGlzdA==?="),
            .refused(-32020, status: 400)),
        .init(
            "method with an escape", modern(#"tools\/list"#), headers("tools/list"), .modern(.toolsList)),
        .init(
            "method of escapes", modern(#"\u0070rompts/g\u0065t"#, #""name":"p""#), .modern(.promptsGet)),
        .init(
            "method with an escape in a session", plain(#"tools\/list"#), slot: "2025-06-18",
            .legacy(.toolsList, "2025-06-18")),
        .init(
            "unknown method with an escape", modern(#"tools\/lisp"#), .refused(-32601, status: 404)),
        .init(
            "header with the escape of the method", modern(#"tools\/list"#), headers(#"tools\/list"#),
            .refused(-32020, status: 400)),
        // AMB-3
        .init(
            "notification without Mcp-Method", modern("notifications/cancelled", id: ""), headers(nil),
            .modern(.cancelled)),
        .init(
            "notification with another Mcp-Method", modern("notifications/cancelled", id: ""), headers("x"),
            .refused(-32020, status: 400)),
        // HDR-05
        .init(
            "Mcp-Name", modern("tools/call", #""name":"add""#), headers("tools/call", name: "add"),
            .modern(.toolsCall)),
        .init(
            "no Mcp-Name", modern("tools/call", #""name":"add""#), headers("tools/call"),
            .refused(-32020, status: 400)),
        .init(
            "other Mcp-Name", modern("tools/call", #""name":"add""#), headers("tools/call", name: "Add"),
            .refused(-32020, status: 400)),
        .init(
            "Mcp-Name of a resource", modern("resources/read", #""uri":"file:///a""#),
            headers("resources/read", name: "file:///a"), .modern(.resourcesRead)),
        .init(
            "name instead of uri", modern("resources/read", #""uri":"file:///a","name":"n""#),
            headers("resources/read", name: "n"), .refused(-32020, status: 400)),
        .init(
            "Mcp-Name of a prompt", modern("prompts/get", #""name":"p""#), headers("prompts/get", name: "p"),
            .modern(.promptsGet)),
        // HDR-09, HDR-11
        .init(
            "Mcp-Name in base64", modern("tools/call", #""name":"ädd""#),
            headers("tools/call", name: "=?base64?w6RkZA==?="), .modern(.toolsCall)),
        .init(
            "base64 of a plain name", modern("tools/call", #""name":"add""#),
            headers("tools/call", name: "=?base64?YWRk?="), .modern(.toolsCall)),
        .init(
            "name with an escape", modern("tools/call", #""name":"a\u0064d""#),
            headers("tools/call", name: "add"),
            .modern(.toolsCall)),
        .init(
            "header with the escape", modern("tools/call", #""name":"a\u0064d""#),
            headers("tools/call", name: #"a\u0064d"#), .refused(-32020, status: 400)),
        .init(
            "markers in capitals are literal", modern("tools/call", #""name":"=?BASE64?YWRk?=""#),
            headers("tools/call", name: "=?BASE64?YWRk?="), .modern(.toolsCall)),
        // HDR-12
        .init(
            "broken base64", modern("tools/call", #""name":"add""#),
            headers("tools/call", name: "=?base64?YWR?="),
            .refused(-32020, status: 400)),
        .init(
            "the wrapped text itself", modern("tools/call", #""name":"=?base64?YWRk?=""#),
            headers("tools/call", name: "=?base64?YWRk?="), .refused(-32020, status: 400)),
        // AMB-14
        .init("no name in the body", modern("tools/call"), headers("tools/call"), .modern(.toolsCall)),
        .init(
            "a name that is no string", modern("tools/call", #""name":5"#), headers("tools/call", name: "5"),
            .modern(.toolsCall)),
        .init(
            "Mcp-Name where none is needed", modern("tools/list"), headers("tools/list", name: "x"),
            .modern(.toolsList)),
        // HTTP-10, LIFE-12, DUAL-08
        .init("unknown method", modern("no/such"), headers("no/such"), .refused(-32601, status: 404)),
        .init(
            "initialize with a claim", modern("initialize"), headers("initialize"),
            .refused(-32601, status: 404)),
        .init("ping with a claim", modern("ping"), .refused(-32601, status: 404)),
        .init("setLevel with a claim", modern("logging/setLevel"), .refused(-32601, status: 404)),
        .init("subscribe with a claim", modern("resources/subscribe"), .refused(-32601, status: 404)),
        .init("method in other case", modern("Tools/List"), .refused(-32601, status: 404)),
        .init("empty method", modern(""), .refused(-32601, status: 404)),
        .init(
            "header before method", modern("no/such"), headers("tools/list"), .refused(-32020, status: 400)),
    ]

    @Test(arguments: shapes + eras + versions + methods)
    func judgement(_ test: ClassifierCase) throws {
        let message = try MessageScanner.scan(ByteSlice(test.message), limits: JSONLimits())
        let slot =
            try test.slot.map {
                NegotiatedSession?(
                    NegotiatedSession(revision: try #require(Revision.named($0)), abilities: []))
            } ?? .none
        let found: Judgement
        do {
            let verdict = try Classifier.classify(message, claims: test.headers?.claims, session: slot)
            #expect(verdict.isModern == verdict.revision.isModern)
            found =
                verdict.isModern
                ? .modern(verdict.entry.method)
                : .legacy(verdict.entry.method, verdict.revision.version.text)
        } catch {
            #expect(!error.error.message.isEmpty)
            found = .refused(error.error.code, status: error.status)
        }
        #expect(found == test.judgement)
    }

    // VER-03, ERR-02: what the client needs in order to choose.
    @Test func unsupportedVersionNamesWhatIsServed() throws {
        let message = try MessageScanner.scan(
            ByteSlice(Self.meta(#""2031-01-01""#, "{}")), limits: JSONLimits())
        let refusal = #expect(throws: Refusal.self) {
            try Classifier.classify(message, claims: nil, session: .none)
        }
        let data = try #require(refusal?.error.data)
        #expect(data["requested"]?.stringValue == "2031-01-01")
        #expect(
            data["supported"]?.arrayValue?.compactMap(\.stringValue)
                == ["2026-07-28", "2025-11-25", "2025-06-18", "2025-03-26", "2024-11-05"])
    }

    // HTTP-15: only some codes have a status of their own.
    @Test(arguments: [
        (-32700, 400), (-32600, 400), (-32601, 404), (-32602, 200), (-32603, 200), (-32002, 200),
        (-32020, 400), (-32021, 400), (-32022, 400), (503, 503), (504, 200), (520, 500), (7, 200),
    ]) func statusByCode(_ code: Int, _ status: Int) {
        #expect(Refusal.status(for: code) == status)
    }
}
