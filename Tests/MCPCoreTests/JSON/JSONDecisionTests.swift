import MCPCore
import Testing

/// Fault rows 1, 2, 4 to 13.
@Suite struct JSONDecisionTests {
    @Test(arguments: JSONDecisions.all) func isDecidedAsTheTableSays(_ row: JSONDecision) throws {
        switch row.verdict {
        case .accept(let written):
            let value = try JSONValue(parsing: row.input)
            #expect(value.serialized() == written ?? String(decoding: row.input, as: UTF8.self))
            #expect(try RawJSON(validating: ByteSlice(row.input)).value == value)
        case .reject(let reason):
            let error = #expect(throws: JSONError.self) { try JSONValue(parsing: row.input) }
            #expect(error?.reason == reason)
            #expect((error?.offset ?? -1) >= 0 && (error?.offset ?? .max) <= row.input.count)
            let rawError = #expect(throws: JSONError.self) { try RawJSON(validating: ByteSlice(row.input)) }
            #expect(rawError == error)
        }
    }

    /// The same text at the very end of an allocation and before other bytes: nothing behind the end is read.
    @Test(arguments: JSONDecisions.all) func dependsOnNothingBehindTheEnd(_ row: JSONDecision) {
        for tail: [UInt8] in [Array("\"]}0true".utf8), [0x80, 0x80, 0x80, 0x80], Array("u0041 1e5".utf8)] {
            let whole = ByteSlice(row.input + tail)
            let verdict = Result { () throws(JSONError) in
                try RawJSON(validating: whole[0 ..< row.input.count]).bytes
            }
            let alone = Result { () throws(JSONError) in try RawJSON(validating: ByteSlice(row.input)).bytes }
            #expect(verdict == alone)
        }
    }

    @Test func idsAreUnique() {
        #expect(Set(JSONDecisions.all.map(\.id)).count == JSONDecisions.all.count)
    }

    /// Fault row 12: the message names the limit.
    @Test func depthErrorNamesTheLimit() {
        let text = String(repeating: #"{"a":"#, count: 1_000_000)
        let error = #expect(throws: JSONError.self) { try JSONValue(parsing: text) }
        #expect(error?.description == "JSON is nested deeper than 64 levels (at byte 320)")
    }

    @Test(arguments: [(0, 0), (1, 1), (128, 128), (500, 128), (-3, 0)])
    func depthLimitIsClamped(_ asked: Int, _ given: Int) throws {
        let limits = JSONLimits(maxDepth: asked)
        #expect(limits.maxDepth == given)
        let fits = String(repeating: "[", count: given) + "1" + String(repeating: "]", count: given)
        _ = try JSONValue(parsing: fits, limits: limits)
        _ = try RawJSON(validating: fits, limits: limits)
        #expect(throws: JSONError.self) { try JSONValue(parsing: "[" + fits + "]", limits: limits) }
        #expect(throws: JSONError.self) { try RawJSON(validating: "[" + fits + "]", limits: limits) }
    }

    @Test func sizeLimitHolds() throws {
        let limits = JSONLimits(maxBytes: 4)
        _ = try JSONValue(parsing: "[12]", limits: limits)
        let error = #expect(throws: JSONError.self) { try JSONValue(parsing: "[123]", limits: limits) }
        #expect(error?.reason == .tooLarge(4))
        #expect(throws: JSONError.self) { try RawJSON(validating: "[123]", limits: limits) }
    }
}
