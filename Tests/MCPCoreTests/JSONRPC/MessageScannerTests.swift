import TestSupport
import Testing

@testable import MCPCore

@Suite struct MessageScannerTests {
    private static func scan(_ text: String, depth: Int = 64) throws(JSONError) -> Message {
        try MessageScanner.scan(ByteSlice(text), limits: JSONLimits(maxDepth: depth))
    }

    // MARK: Kinds

    // JRPC-01, JRPC-14
    @Test(arguments: [
        (#"{"jsonrpc":"2.0","id":1,"method":"ping"}"#, MessageHead.Kind.request),
        (#" { "method" : "ping" , "id" : "a" , "jsonrpc" : "2.0" } "#, .request),
        (#"{"jsonrpc":"2.0","method":"notifications/x","params":{}}"#, .notification),
        (#"{"jsonrpc":"2.0","id":1,"result":{}}"#, .response),
        (#"{"jsonrpc":"2.0","id":1,"error":{"code":1,"message":"m"}}"#, .response),
        (#"{"jsonrpc":"2.0","error":{"code":1,"message":"m"}}"#, .response),
        (#"{"jsonrpc":"2.0","id":null,"error":{"code":1,"message":"m"}}"#, .response),
        (#"[{"jsonrpc":"2.0","id":1,"method":"ping"}]"#, .batch),
        ("[]", .batch),
        // An envelope key in its escaped spelling is the same key.
        (#"{"\u006asonrpc":"2.0","\u0069d":1,"m\u0065thod":"ping"}"#, .request),
        // Unknown members are ignored (JRPC-23).
        (#"{"jsonrpc":"2.0","id":1,"method":"ping","extra":[{"id":2}]}"#, .request),
    ]) func kinds(_ text: String, _ kind: MessageHead.Kind) throws {
        let head = try Self.scan(text).head
        #expect(head.kind == kind)
        #expect(head.defect == (kind == .batch ? .notAnObject : .none))
    }

    // JRPC-02, JRPC-13, JRPC-21
    @Test(arguments: [
        ("1", MessageHead.Defect.notAnObject),
        ("null", .notAnObject),
        (#""text""#, .notAnObject),
        ("{}", .wrongVersion),
        (#"{"jsonrpc":"1.0","id":1,"method":"ping"}"#, .wrongVersion),
        (#"{"jsonrpc":2.0,"id":1,"method":"ping"}"#, .wrongVersion),
        (#"{"jsonrpc":"2.\u0030","id":1,"method":"ping"}"#, .wrongVersion),
        (#"{"JSONRPC":"2.0","id":1,"method":"ping"}"#, .wrongVersion),
        (#"{"jsonrpc":"2.0"}"#, .neitherRequestNorResponse),
        (#"{"jsonrpc":"2.0","id":1}"#, .neitherRequestNorResponse),
        (#"{"jsonrpc":"2.0","id":1,"METHOD":"ping"}"#, .neitherRequestNorResponse),
        (#"{"jsonrpc":"2.0","id":1,"method":7}"#, .badMethod),
        (#"{"jsonrpc":"2.0","id":1,"method":null}"#, .badMethod),
        (#"{"jsonrpc":"2.0","id":1,"method":"ping","params":[]}"#, .badParams),
        (#"{"jsonrpc":"2.0","id":1,"method":"ping","params":"x"}"#, .badParams),
        (#"{"jsonrpc":"2.0","id":1,"method":"ping","params":null}"#, .badParams),
        (#"{"jsonrpc":"2.0","id":1,"method":"ping","result":{}}"#, .badResponse),
        (#"{"jsonrpc":"2.0","id":1,"result":{},"error":{}}"#, .badResponse),
        (#"{"jsonrpc":"2.0","result":{}}"#, .badResponse),
    ]) func defects(_ text: String, _ defect: MessageHead.Defect) throws {
        let head = try Self.scan(text).head
        #expect(head.kind == .invalid)
        #expect(head.defect == defect)
        #expect(!defect.text.isEmpty)
    }

    @Test(arguments: [
        #"{"jsonrpc":"2.0","jsonrpc":"2.0","id":1,"method":"ping"}"#,
        #"{"jsonrpc":"2.0","id":1,"id":1,"method":"ping"}"#,
        #"{"jsonrpc":"2.0","id":1,"\u0069d":2,"method":"ping"}"#,
        #"{"jsonrpc":"2.0","id":null,"id":2,"method":"ping"}"#,
        #"{"jsonrpc":"2.0","id":1,"method":"ping","m\u0065thod":"tools/call"}"#,
        #"{"jsonrpc":"2.0","id":1,"method":"ping","params":{},"params":{"a":1}}"#,
        #"{"jsonrpc":"2.0","id":1,"method":"ping","params":{},"p\u0061rams":[]}"#,
        #"{"jsonrpc":"2.0","id":1,"result":{},"result":{}}"#,
        #"{"jsonrpc":"2.0","id":1,"error":{},"\u0065rror":{}}"#,
    ]) func envelopeKeysThatStandTwice(_ text: String) throws {
        let head = try Self.scan(text).head
        #expect(head.kind == .invalid)
        #expect(head.defect == .duplicateMember)
    }

    @Test(arguments: [
        "", " ", "{", #"{"jsonrpc":"2.0""#, #"{"jsonrpc":"2.0"}x"#, #"{"jsonrpc":"2.0",}"#, "{'a':1}",
        #"{"jsonrpc":"2.0","id":01,"method":"ping"}"#, "[1,2", "\u{FEFF}{}", #"{"a":"\ud800"}"#, "{}{}",
    ]) func textThatIsNotJSON(_ text: String) {
        #expect(throws: JSONError.self) { try Self.scan(text) }
    }

    @Test func depth() throws {
        // The arguments lie two levels deep already.
        func call(_ levels: Int) -> String {
            let value = String(repeating: "[", count: levels) + String(repeating: "]", count: levels)
            return #"{"jsonrpc":"2.0","id":1,"method":"m","params":{"arguments":\#(value)}}"#
        }
        #expect(try Self.scan(call(62), depth: 64).head.kind == .request)
        #expect(throws: JSONError.self) { try Self.scan(call(63), depth: 64) }
        #expect(throws: JSONError.self) { try Self.scan(call(100_000), depth: 64) }
    }

    // MARK: Ids

    // JRPC-02, AMB-10
    @Test(arguments: [
        ("1", true), ("1.0", true), ("1e2", true), ("-0", true), ("0", true), ("12e-1", false),
        ("1.5", false),
        ("9223372036854775807", true), ("9223372036854775808", false),
        ("-9223372036854775808", true), ("-9223372036854775809", false),
        ("922337203685477580.7e1", true), ("1e18", true), ("1e19", false), ("1e999999999", false),
        (#""""#, true), (#""a""#, true), ("null", false), ("true", false), ("[]", false), ("{}", false),
    ]) func ids(_ id: String, _ isUsable: Bool) throws {
        let message = try Self.scan(#"{"jsonrpc":"2.0","id":\#(id),"method":"ping"}"#)
        #expect(message.head.kind == (isUsable ? .request : .invalid))
        #expect(message.head.defect == (isUsable ? .none : .badID))
        // JRPC-05: the spelling is kept.
        #expect(message.id.map { "\($0)" } == (isUsable ? id : nil))
    }

    @Test(arguments: [(256, true), (257, false)]) func longTextIDs(_ length: Int, _ isUsable: Bool) throws {
        let id = "\"" + String(repeating: "x", count: length) + "\""
        let message = try Self.scan(#"{"jsonrpc":"2.0","id":\#(id),"method":"ping"}"#)
        #expect(message.head.kind == (isUsable ? .request : .invalid))
        #expect((message.id != nil) == isUsable)
    }

    @Test(arguments: [(256, true), (257, false)]) func longNumericIDs(_ length: Int, _ isUsable: Bool) throws
    {
        let id = "1." + String(repeating: "0", count: length - 2)
        let message = try Self.scan(#"{"jsonrpc":"2.0","id":\#(id),"method":"ping"}"#)
        #expect(message.head.kind == (isUsable ? .request : .invalid))
        // What the scanner takes as an id can be kept as one.
        #expect((message.id != nil) == isUsable)
    }

    // MARK: Parts

    @Test func partsOfACall() throws {
        let text = #"""
            {"jsonrpc":"2.0","id":7,"method":"tools\/call","params":{"n\u0061me":"add","arguments":{"a":1},"uri":"x:y",
             "_meta":{"progressToken":"t","io.modelcontextprotocol/protocolVersion":"2026-07-28",
             "io.modelcontextprotocol/clientCapabilities":{"roots":{}}}}}
            """#
        let message = try Self.scan(text)
        #expect(message.method == "tools/call")
        #expect(message.raw(message.head.name)?.string == "add")
        #expect(message.raw(message.head.arguments)?["a"]?.int == 1)
        #expect(message.raw(message.head.uri)?.string == "x:y")
        #expect(message.raw(message.head.metaVersion)?.string == "2026-07-28")
        #expect(message.raw(message.head.metaCapabilities)?["roots"] != nil)
        #expect(message.raw(message.head.progressToken)?.string == "t")
    }

    /// What routing reads and what a handler reads later is the same member: the last one.
    @Test(arguments: [
        #"{"name":"a","name":"b"}"#,
        #"{"_meta":{"progressToken":1,"progressToken":2}}"#,
        #"{"_meta":{"io.modelcontextprotocol/protocolVersion":"2026-07-28"},"_meta":{}}"#,
        #"{"_meta":{"io.modelcontextprotocol/protocolVersion":"2026-07-28"},"_meta":null}"#,
        #"{"_meta":{"progressToken":1},"_m\u0065ta":{"io.modelcontextprotocol/clientCapabilities":{}}}"#,
        #"{"_meta":null,"_meta":{"progressToken":1}}"#,
    ]) func membersThatStandTwice(_ params: String) throws {
        let message = try Self.scan(#"{"jsonrpc":"2.0","id":1,"method":"m","params":\#(params)}"#)
        let read = try #require(message.params)
        #expect(message.raw(message.head.name) == read["name"])
        #expect(message.raw(message.head.progressToken) == read["_meta"]?["progressToken"])
        #expect(
            message.raw(message.head.metaVersion)
                == read["_meta"]?["io.modelcontextprotocol/protocolVersion"])
        #expect(
            message.raw(message.head.metaCapabilities)
                == read["_meta"]?["io.modelcontextprotocol/clientCapabilities"])
    }

    /// Every prefix and every changed byte of a message either scans or throws.
    @Test func damagedMessages() throws {
        let text = Array(
            #"{"jsonrpc":"2.0","id":"é1","method":"tools/call","params":{"_meta":{"progressToken":1.5e3}}}"#
                .utf8)
        var outcomes = (scanned: 0, refused: 0)
        func attempt(_ bytes: [UInt8]) {
            do {
                let message = try MessageScanner.scan(ByteSlice(bytes), limits: JSONLimits())
                _ = (message.id, message.method, message.params, message.meta)
                outcomes.scanned += 1
            } catch {
                outcomes.refused += 1
            }
        }
        for end in 0 ..< text.count { attempt(Array(text[..<end])) }
        var random = SeededRandom(seed: 11)
        for place in text.indices {
            for _ in 0 ..< 16 {
                var damaged = text
                damaged[place] = UInt8.random(in: 0 ... 255, using: &random)
                attempt(damaged)
            }
        }
        #expect(outcomes.scanned > 0 && outcomes.refused > text.count)
    }
}
