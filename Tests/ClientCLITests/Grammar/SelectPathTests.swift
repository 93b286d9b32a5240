import MCPCore
import Testing

@testable import MCPClientCLI

struct SelectPathTests {
    private let value = #"{"a":{"b":[{"c":1.50},2]},"odd name":true,"x.y":null}"#

    @Test(arguments: [
        (".a.b[0].c", "1.50"), ("a.b[1]", "2"), (".a.b", #"[{"c":1.50},2]"#), (#".["odd name"]"#, "true"),
        (#"["x.y"]"#, "null"), (".", #"{"a":{"b":[{"c":1.50},2]},"odd name":true,"x.y":null}"#),
    ])
    func paths(path: String, expected: String) throws {
        let selected = try SelectPath(parsing: path).select(from: try RawJSON(validating: value))
        #expect(String(selected.bytes) == expected)
    }

    @Test(arguments: ["..", ".a..b", ".a[", ".a[x]", ".a[-1]", ".a]b", ".a[0]b", #".["a]"#])
    func whatIsNoPath(path: String) {
        #expect(throws: Failure.self) { try SelectPath(parsing: path) }
    }

    @Test func aMissingPartIsNamedWithWhatThereIs() throws {
        let failure = #expect(throws: Failure.self) {
            try SelectPath(parsing: ".a.x").select(from: try RawJSON(validating: value))
        }
        #expect(failure?.message == "--select .a.x: .a has no .x")
        #expect(failure?.details == [".a has: b"])
        #expect(failure?.code == .protocolError)
    }
}
