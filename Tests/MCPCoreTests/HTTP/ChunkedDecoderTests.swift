import TestSupport
import Testing

@testable import MCPCore

@Suite struct ChunkedDecoderTests {
    private static func verdict(_ input: [UInt8], cut: Cut, limits: HTTPLimits = HTTPLimits()) -> Verdict {
        var decoder = ChunkedDecoder(limits: limits)
        var body = ByteBuffer()
        var start = 0
        for end in cut.steps(input.count) {
            let part = Array(input[start ..< end])
            switch unsafe part.withUnsafeBufferPointer({ unsafe decoder.decode($0, into: &body) }) {
            case .needMore: start = end
            case .done(let consumed):
                return .head("\(String(body.slice(0 ..< body.count)))|\(start + consumed)")
            case .failed(let error): return .failed(error)
            }
        }
        return .needMore
    }

    private func settledBody(_ input: String, limits: HTTPLimits = HTTPLimits()) -> Verdict {
        settled(input.utf8) { Self.verdict($0, cut: $1, limits: limits) }
    }

    @Test(arguments: [
        ("0\r\n\r\n", "|5"),
        ("5\r\nhello\r\n0\r\n\r\n", "hello|15"),
        ("5\r\nhello\r\n6\r\n world\r\n0\r\n\r\nGET /", "hello world|26"),
        ("0000000000000005\r\nhello\r\n0\r\n\r\n", "hello|30"),
        ("A\r\n0123456789\r\na\r\n0123456789\r\n0\r\n\r\n", "01234567890123456789|35"),
        ("1;a=b;c=\"d;\t e\"\r\nx\r\n0;z\r\n\r\n", "x|27"),
        ("1\r\nx\r\n0\r\nA: b\r\nC:\r\n\r\n", "x|21"),
        ("2\r\n\r\n\r\n0\r\n\r\n", "\r\n|12"),
    ])
    func isDecoded(input: String, verdict: String) {
        #expect(settledBody(input) == .head(verdict))
    }

    // Fault row 51
    @Test(arguments: [
        ("FFFFFFFFFFFFFFFF\r\n", HTTPError.chunkSizeOverflow),
        ("8000000000000000\r\n", .chunkSizeOverflow),
        ("00000000000000005\r\n", .chunkSizeOverflow),
        ("7FFFFFFFFFFFFFFF\r\n", .bodyTooLarge),
        ("\r\n", .malformedChunkSize),
        (";a\r\n", .malformedChunkSize),
        ("g\r\n", .malformedChunkSize),
        ("-1\r\n", .malformedChunkSize),
        ("+1\r\n", .malformedChunkSize),
        ("0x1\r\n", .malformedChunkSize),
        (" 1\r\n", .malformedChunkSize),
        ("1 \r\nx", .malformedChunkSize),
        ("1 ;a\r\nx", .malformedChunkSize),
        ("1\nx", .malformedChunkSize),
        ("1\rx", .malformedChunkSize),
        ("1;a\nx", .malformedChunkSize),
        ("1;a\0\r\n", .malformedChunkSize),
        ("1\r\nxy\r\n", .malformedChunk),
        ("1\r\nx\n0\r\n", .malformedChunk),
        ("1\r\nx\rx", .malformedChunk),
        ("1\r\nx0\r\n", .malformedChunk),
        ("0\r\n\n", .bareLineFeed),
        ("0\r\n\rx", .bareCarriageReturn),
        ("0\r\nA : b\r\n", .spaceBeforeColon),
        ("0\r\n A: b\r\n", .lineFolding),
        ("0\r\nA\r\n", .malformedFieldName),
        ("0\r\nA\n", .bareLineFeed),
        ("0\r\n: b\r\n", .malformedFieldName),
        ("0\r\nA: b\nC: d\r\n", .bareLineFeed),
        ("0\r\nA: b\rC", .bareCarriageReturn),
        ("0\r\nA: \0\r\n", .controlCharacter),
    ])
    func row51Refused(input: String, error: HTTPError) {
        #expect(settledBody(input) == .failed(error))
    }

    @Test(arguments: [
        "", "5", "5\r", "5\r\nhel", "5\r\nhello", "5\r\nhello\r\n", "5\r\nhello\r\n0\r\n", "0\r\nA: b\r\n",
    ])
    func row51MissingEnd(input: String) {
        #expect(settledBody(input) == .needMore)
    }

    @Test func row51Extensions() {
        let limits = HTTPLimits(maxChunkExtensionBytes: 20)
        let nine = ";" + String(repeating: "x", count: 8)
        #expect(
            settledBody("1\(nine)\r\na\r\n1\(nine)\r\nb\r\n0;x\r\n\r\n", limits: limits) == .head("ab|37"))
        #expect(
            settledBody("1\(nine)\r\na\r\n1\(nine)\r\nb\r\n0;xy\r\n\r\n", limits: limits)
                == .failed(.chunkExtensionsTooLong))
        let megabyte = Array(("1;" + String(repeating: "x", count: 1 << 20)).utf8)
        #expect(Self.verdict(megabyte, cut: .whole) == .failed(.chunkExtensionsTooLong))
    }

    // Fault row 53: as soon as the size is known, before the data came.
    @Test func row53Body() {
        let limits = HTTPLimits(maxBodyBytes: 10)
        #expect(
            settledBody("5\r\nhello\r\n5\r\nworld\r\n0\r\n\r\n", limits: limits) == .head("helloworld|25"))
        #expect(settledBody("5\r\nhello\r\n6\r\n", limits: limits) == .failed(.bodyTooLarge))
        #expect(settledBody("B\r\n", limits: limits) == .failed(.bodyTooLarge))
    }

    @Test func trailersCountTowardsTheHeaderLimits() {
        let limits = HTTPLimits(maxHeaderBytes: 12, maxFields: 2)
        #expect(settledBody("0\r\nA:b\r\nC:d\r\n\r\n", limits: limits) == .head("|15"))
        #expect(settledBody("0\r\nA:b\r\nC:de\r\n\r\n", limits: limits) == .failed(.headersTooLarge))
        #expect(settledBody("0\r\nA:\r\nC:\r\nE:\r\n\r\n", limits: limits) == .failed(.tooManyFields))
    }

    @Test func whatTheWriterWritesIsDecoded() {
        var buffer = ByteBuffer()
        ChunkWriter.write(ByteSlice("hello"), to: &buffer)
        ChunkWriter.write(ByteSlice(""), to: &buffer)
        let start = ChunkWriter.begin(in: &buffer)
        buffer.append(utf8: String(repeating: "y", count: 0x1A5))
        ChunkWriter.end(start, in: &buffer)
        ChunkWriter.writeLast(to: &buffer)
        let written = Array(buffer.slice(0 ..< buffer.count))
        let text = String(decoding: written, as: UTF8.self)
        #expect(text.hasPrefix("00000005\r\nhello\r\n000001a5\r\nyyy"))
        #expect(
            Self.verdict(written, cut: .whole)
                == .head("hello\(String(repeating: "y", count: 0x1A5))|\(written.count)"))
    }
}
