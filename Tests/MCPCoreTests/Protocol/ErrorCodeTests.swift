import MCPCore
import TestSupport
import Testing

/// The codes of errors that stand in the sources.
@Suite struct ErrorCodeTests {
    /// Every number from -32999 to -32000 in the sources.
    private static func codes() throws -> Set<Int> {
        var codes: Set<Int> = []
        for path in try RepositoryFile.swiftFiles(below: "Sources") {
            let text = try RepositoryFile.text("Sources/\(path)")
            for match in text.matches(of: /-(32[0-9]{3})(?![0-9_])/) { codes.insert(-(Int(match.1) ?? 0)) }
        }
        return codes
    }

    // ERR-03, ERR-04, ERR-15
    @Test func onlyCodesThatTheSpecificationHas() throws {
        let standard: Set = [-32700, -32600, -32601, -32602, -32603]
        // -32002 and -32042 belong to older revisions; the rest are bounds of ranges.
        let others: Set = [-32768, -32002, -32020, -32021, -32022, -32042, -32000, -32019, -32099]
        let codes = try Self.codes()
        #expect(codes.isSuperset(of: standard))
        #expect(codes.subtracting(standard).subtracting(others) == [])
    }

    // ERR-06
    @Test func ownCodesAreOutsideTheReservedRange() {
        for code in [MCPError.overloadedCode, MCPError.deadlineExceededCode, MCPError.interruptedCode] {
            #expect(!(-32768 ... -32000).contains(code))
        }
    }
}
