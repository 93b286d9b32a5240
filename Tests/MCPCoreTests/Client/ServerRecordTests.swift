import Testing

@testable import MCPCore

/// What is kept about a server between runs, as bytes: nothing that is damaged, foreign or too large is used.
@Suite struct ServerRecordTests {
    private func response(_ method: String, _ result: JSONValue, params: String = "{}") -> ResultCache.Kept {
        ResultCache.Kept(
            method: method, params: params, result: RawJSON(result), keptAt: 1_000, expiresAt: 2_000)
    }

    private func record(_ responses: ResultCache.Kept...) -> ServerRecord {
        var record = ServerRecord(stamp: "s", server: "ops\n1\n2026-07-28")
        record.responses = responses
        return record
    }

    @Test func whatWasWrittenIsRead() throws {
        let list = response("tools/list", ["tools": [], "cacheScope": "public"])
        let read = try #require(ServerRecord(record(list, response("prompts/list", ["prompts": []])).bytes))
        #expect(read.stamp == "s" && read.server == "ops\n1\n2026-07-28" && read.verdict == nil)
        #expect(read.responses.map(\.method) == ["tools/list", "prompts/list"])
        #expect(read.responses.first == list)
        #expect(read.responses.map(\.isPublic) == [true, false])
    }

    @Test func anEmptyRecordIsKnownAsEmpty() throws {
        #expect(record().isEmpty && !record(response("tools/list", [:])).isEmpty)
        #expect(try #require(ServerRecord(record().bytes)).isEmpty)
    }

    /// Every torn prefix of a record is none.
    @Test func aTornRecordIsNone() {
        let bytes = record(response("tools/list", ["tools": []])).bytes
        for count in 0 ..< bytes.count { #expect(ServerRecord(Array(bytes[..<count])) == nil, "\(count)") }
    }

    @Test(arguments: [
        "[]", "{}", "null", #"{"format":2,"stamp":"s","responses":[]}"#, #"{"format":1,"responses":[]}"#,
        #"{"format":1,"stamp":1,"responses":[]}"#, #"{"format":1,"stamp":"s","responses":{}}"#,
        #"{"format":1,"stamp":"s","responses":[{}]}"#,
        #"{"format":1,"stamp":"s","responses":[{"method":"m","params":"p","keptAt":1,"expiresAt":2,"result":[]}]}"#,
        #"{"format":1,"stamp":"s","responses":[{"method":"m","params":"p","keptAt":"1","expiresAt":2,"result":{}}]}"#,
    ])
    func aForeignRecordIsNone(text: String) { #expect(ServerRecord(Array(text.utf8)) == nil) }

    /// A response that does not fit is left out; those after it are kept.
    @Test func aLargeResponseIsLeftOut() throws {
        let large = response(
            "tools/list", ["x": .string(String(repeating: "x", count: ServerRecord.maxBytes))])
        let bytes = record(large, response("prompts/list", [:])).bytes
        #expect(bytes.count < 1_000)
        #expect(try #require(ServerRecord(bytes)).responses.map(\.method) == ["prompts/list"])
        #expect(ServerRecord([UInt8](repeating: 0x20, count: ServerRecord.maxBytes + 1)) == nil)
    }

    @Test func namesDoNotContainAddresses() {
        let name = ServerRecord.name(of: "http://h/mcp?key=secret")
        #expect(name.utf8.count == 40 && name.utf8.allSatisfy { ASCII.isLetterOrDigit($0) })
        #expect(name != ServerRecord.name(of: "http://h/mcp?key=other"))
    }
}
