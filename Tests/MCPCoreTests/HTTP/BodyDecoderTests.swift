import Testing

@testable import MCPCore

@Suite struct BodyDecoderTests {
    /// The body and how many bytes of the input belong to it, fed in pieces of `size`; then the end of the
    /// stream.
    private func read(
        _ body: ResponseHead.Body, _ input: String, size: Int, limits: HTTPLimits = HTTPLimits()
    ) throws(HTTPError) -> (text: String, consumed: Int) {
        var decoder = BodyDecoder(body, limits: limits)
        var buffer = ByteBuffer()
        let bytes = Array(input.utf8)
        var start = 0
        while start < bytes.count, !decoder.isDone {
            let part = Array(bytes[start ..< min(bytes.count, start + size)])
            switch unsafe part.withUnsafeBufferPointer({ unsafe decoder.decode($0, into: &buffer) }) {
            case .needMore: start += part.count
            case .done(let consumed): start += consumed
            case .failed(let error): throw error
            }
        }
        try decoder.finish()
        return (String(buffer.slice(0 ..< buffer.count)), start)
    }

    @Test(arguments: [1, 2, 3, 100])
    func eachFraming(size: Int) throws {
        #expect(try read(.none, "next", size: size) == ("", 0))
        #expect(try read(.length(0), "next", size: size) == ("", 0))
        #expect(try read(.length(5), "hellonext", size: size) == ("hello", 5))
        #expect(try read(.chunked, "5\r\nhello\r\n0\r\n\r\nnext", size: size) == ("hello", 15))
        #expect(try read(.untilClose, "hello", size: size) == ("hello", 5))
    }

    // Fault row 66
    @Test(arguments: [1, 100])
    func row66TruncatedBody(size: Int) {
        #expect(throws: HTTPError.truncatedBody) { try read(.length(6), "hello", size: size) }
        #expect(throws: HTTPError.truncatedBody) { try read(.chunked, "5\r\nhello\r\n", size: size) }
        #expect(throws: HTTPError.truncatedBody) { try read(.length(1), "", size: size) }
    }

    @Test(arguments: [1, 100])
    func endlessBody(size: Int) throws {
        let limits = HTTPLimits(maxBodyBytes: 5)
        #expect(try read(.untilClose, "hello", size: size, limits: limits).text == "hello")
        #expect(throws: HTTPError.bodyTooLarge) {
            try read(.untilClose, "hello!", size: size, limits: limits)
        }
        #expect(throws: HTTPError.bodyTooLarge) {
            try read(.chunked, "6\r\nhello!", size: size, limits: limits)
        }
    }
}
