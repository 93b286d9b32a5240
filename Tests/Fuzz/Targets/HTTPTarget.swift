@testable import MCPCore

/// HTTP: the verdict about a head or a body is the same whole and in pieces.
enum HTTPTarget {
    static let limits = HTTPLimits(
        maxRequestLineBytes: 128, maxHeaderBytes: 512, maxFields: 12, maxBodyBytes: 4096,
        maxChunkExtensionBytes: 64, maxEventBytes: 512)

    static func checkRequest(_ input: [UInt8]) throws {
        let whole = request(input, by: max(1, input.count))
        let pieces = request(input, by: input.step)
        try require(whole == pieces, "\(pieces) in pieces of \(input.step), but \(whole)")
    }

    private static func request(_ input: [UInt8], by step: Int) -> String {
        var parser = RequestParser(limits: limits)
        var count = 0
        while count < input.count {
            count = min(input.count, count + step)
            let outcome = unsafe withExactCopy(of: input[..<count]) { unsafe parser.parse($0) }
            switch outcome {
            case .needMore: continue
            case .failed(let error): return "failed: \(error)"
            case .head(let head): return describe(head, ByteSlice(input[..<count]))
            }
        }
        return "needs more"
    }

    private static func describe(_ head: RequestHead, _ bytes: ByteSlice) -> String {
        var parts = [
            "\(head.byteCount) \(head.method) \(head.version) \(head.keepAlive) \(head.isChunked)",
            "\(head.contentLength ?? -1) \(head.expectsContinue) \(head.hasMCPParams)",
            "\(head.path.range) \(head.target.range) \(head.authority.range) \(head.methodRange.range)",
            "\(head.path(in: bytes).array) \(head.query(in: bytes)?.array ?? [])",
        ]
        for field in RequestHead.Field.allCases {
            parts.append(
                "\(field) \(head.value(field, in: bytes)?.array.text ?? "-") \(head.isRepeated(field))")
        }
        head.forEachField(in: bytes) { parts.append("\($0.array.text): \($1.array.text)") }
        return parts.joined(separator: "; ")
    }

    static func checkResponse(_ input: [UInt8]) throws {
        let whole = response(input, by: max(1, input.count))
        let pieces = response(input, by: input.step)
        try require(whole == pieces, "\(pieces) in pieces of \(input.step), but \(whole)")
    }

    private static func response(_ input: [UInt8], by step: Int) -> String {
        var parser = ResponseParser(limits: limits)
        var count = 0
        while count < input.count {
            count = min(input.count, count + step)
            let outcome = unsafe withExactCopy(of: input[..<count]) { unsafe parser.parse($0) }
            switch outcome {
            case .needMore: continue
            case .failed(let error): return "failed: \(error)"
            case .head(let head):
                var text = "\(head.byteCount) \(head.status) \(head.keepAlive) \(head.body)"
                head.forEachField(in: ByteSlice(input[..<count])) {
                    text += "; \($0.array.text): \($1.array.text)"
                }
                return text + "; " + body(head, Array(input[head.byteCount...]), by: step)
            }
        }
        return "needs more"
    }

    private static func body(_ head: ResponseHead, _ rest: [UInt8], by step: Int) -> String {
        var decoder = BodyDecoder(head.body, limits: limits)
        var body = ByteBuffer()
        var start = 0
        while start < rest.count, !decoder.isDone {
            let end = min(rest.count, start + step)
            let outcome = unsafe withExactCopy(of: rest[start ..< end]) {
                unsafe decoder.decode($0, into: &body)
            }
            if case .failed(let error) = outcome { return "failed: \(error)" }
            start = end
        }
        return "\(decoder.isDone) \(body.slice(0 ..< body.count).array)"
    }

    static func checkChunked(_ input: [UInt8]) throws {
        let whole = chunked(input, by: max(1, input.count))
        let pieces = chunked(input, by: input.step)
        try require(whole == pieces, "\(pieces) in pieces of \(input.step), but \(whole)")
    }

    private static func chunked(_ input: [UInt8], by step: Int) -> String {
        var decoder = ChunkedDecoder(limits: limits)
        var body = ByteBuffer()
        var start = 0
        while start < input.count {
            let end = min(input.count, start + step)
            let outcome = unsafe withExactCopy(of: input[start ..< end]) {
                unsafe decoder.decode($0, into: &body)
            }
            switch outcome {
            case .needMore: start = end
            case .done(let count): return "\(start + count) \(body.slice(0 ..< body.count).array)"
            case .failed(let error): return "failed: \(error)"
            }
        }
        return "needs more, \(body.slice(0 ..< body.count).array)"
    }
}
