import TestSupport
import Testing

@testable import MCPCore

@Suite struct SSEEncoderTests {
    private func text(_ write: (inout ByteBuffer) -> Void) -> String {
        var buffer = ByteBuffer()
        write(&buffer)
        return String(buffer.slice(0 ..< buffer.count))
    }

    private func decode(_ stream: String) throws -> [SSEEvent] {
        var decoder = SSEDecoder()
        var events: [SSEEvent] = []
        let bytes = ByteSlice(stream)
        try unsafe bytes.withBytes { (bytes) throws(HTTPError) in
            try unsafe decoder.decode(bytes, into: &events)
        }
        return events
    }

    @Test func events() {
        #expect(text { SSEEncoder.write(data: ByteSlice("{}"), to: &$0) } == "data: {}\n\n")
        #expect(
            text { SSEEncoder.write(data: ByteSlice(""), id: "1", retryMilliseconds: 500, to: &$0) }
                == "id: 1\nretry: 500\ndata: \n\n")
        #expect(
            text { SSEEncoder.write(data: ByteSlice("/p"), event: "endpoint", to: &$0) }
                == "event: endpoint\ndata: /p\n\n")
        #expect(text { SSEEncoder.writeKeepAlive(to: &$0) } == ":\n\n")
    }

    /// A payload can never inject a line.
    @Test(arguments: [
        "a\nb", "a\rb", "a\r\nb", "a\n\nevent: x", "\n", "\r\n\r\n", "a\r\n", "data: x\n\ndata: y",
        "\r\revent: x\rid: 1",
    ])
    func payloadsInjectNothing(payload: String) throws {
        let stream = text { SSEEncoder.write(data: ByteSlice(payload), id: "9\n\nevent: y", to: &$0) }
        let events = try decode(stream)
        let lines = payload.split(omittingEmptySubsequences: false) { $0.isNewline }
        #expect(events.map { String($0.data) } == [lines.joined(separator: "\n")])
        #expect(events.map(\.type) == ["message"])
        #expect(events.map(\.id) == ["9event: y"])
    }
}
