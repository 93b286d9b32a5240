import Testing

@testable import MCPCore

@Suite struct HeaderFieldsTests {
    @Test func orderAndCase() throws {
        var fields = try HeaderFields(["Accept": "a", "X-Y": " b\t", "accept": "c"])
        #expect(fields["ACCEPT"] == "a")
        #expect(fields.values(of: "Accept") == ["a", "c"])
        #expect(fields["x-y"] == "b")
        #expect(fields["z"] == nil)
        #expect(fields.map(\.name) == ["Accept", "X-Y", "accept"])
        try fields.set("ACCEPT", to: "d")
        #expect(fields.map(\.name) == ["ACCEPT", "X-Y"])
        try fields.set("New", to: "")
        #expect(fields["new"] == "")
        fields.removeAll("x-Y")
        #expect(fields.map(\.value) == ["d", ""])
    }

    @Test(arguments: ["", "a b", "a:", "a\r\n", "\u{e9}", "a(b)"])
    func badNames(name: String) {
        #expect(throws: HeaderFields.InvalidField.self) {
            var fields = HeaderFields()
            try fields.append(name, "x")
        }
    }

    // Fault row 110: nothing can begin another line.
    @Test(arguments: ["a\r\nX: y", "a\nb", "a\rb", "\0", "\u{7f}", "\r\n"])
    func badValues(value: String) throws {
        #expect(throws: HeaderFields.InvalidField.self) { try HeaderFields(["X": value]) }
        var fields = HeaderFields()
        #expect(throws: HeaderFields.InvalidField.self) { try fields.set("X", to: value) }
        fields.append(sanitizing: "X", value)
        #expect(fields["X"]?.utf8.allSatisfy { $0 >= 0x20 && $0 != 0x7F } == true)
    }

    @Test func requestsAndResponses() async {
        let request = HTTPRequest(method: "POST", target: "/mcp?x=1")
        #expect(request.path == "/mcp")
        #expect(HTTPResponse(status: 204).body.bytes == [])
        var parts: [[UInt8]] = []
        for await part in HTTPBody.bytes([1, 2]).parts { parts.append(part) }
        #expect(parts == [[1, 2]])
        let (stream, continuation) = AsyncStream.makeStream(of: [UInt8].self)
        continuation.yield([3])
        continuation.yield([4])
        continuation.finish()
        let body = HTTPBody.stream(stream)
        #expect(body.bytes == nil)
        for await part in body.parts { parts.append(part) }
        #expect(parts == [[1, 2], [3], [4]])
    }
}
