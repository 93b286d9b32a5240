@testable import MCPCore

/// HTTP: the verdict about a head or a body is the same whole and in pieces.
enum HTTPTarget {
    static let limits = HTTPLimits(
        maxRequestLineBytes: 128, maxHeaderBytes: 512, maxFields: 12, maxBodyBytes: 4096,
        maxChunkExtensionBytes: 64, maxEventBytes: 512)

    static func checkRequest(_ input: [UInt8]) throws { try check(input, request) }
    static func checkResponse(_ input: [UInt8]) throws { try check(input, response) }
    static func checkChunked(_ input: [UInt8]) throws { try check(input, chunked) }

    private static func check(_ input: [UInt8], _ verdict: ([UInt8], _ step: Int) -> String) throws {
        let whole = verdict(input, max(1, input.count))
        let pieces = verdict(input, input.step)
        try require(whole == pieces, "\(pieces) in pieces of \(input.step), but \(whole)")
    }

    /// Gives a parser more and more of the input until it has a verdict.
    private static func grow(
        _ input: [UInt8], by step: Int, _ parse: (UnsafeBufferPointer<UInt8>) -> String?
    ) -> String {
        var count = 0
        while count < input.count {
            count = min(input.count, count + step)
            let verdict = unsafe withExactCopy(of: input[..<count]) { unsafe parse($0) }
            if let verdict { return verdict }
        }
        return "needs more"
    }

    /// Gives a decoder the input in pieces until it has a verdict.
    private static func feed(
        _ input: [UInt8], by step: Int, _ decode: (UnsafeBufferPointer<UInt8>, _ start: Int) -> String?
    ) -> String? {
        for start in stride(from: 0, to: input.count, by: step) {
            let piece = input[start ..< min(input.count, start + step)]
            let verdict = unsafe withExactCopy(of: piece) { unsafe decode($0, start) }
            if let verdict { return verdict }
        }
        return nil
    }

    private static func request(_ input: [UInt8], by step: Int) -> String {
        var parser = RequestParser(limits: limits)
        return unsafe grow(input, by: step) { bytes in
            switch unsafe parser.parse(bytes) {
            case .needMore: nil
            case .failed(let error): "failed: \(error)"
            case .head(let head): unsafe describe(head, ByteSlice(Array(bytes)))
            }
        }
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

    private static func response(_ input: [UInt8], by step: Int) -> String {
        var parser = ResponseParser(limits: limits)
        return unsafe grow(input, by: step) { bytes in
            switch unsafe parser.parse(bytes) {
            case .needMore: return nil
            case .failed(let error): return "failed: \(error)"
            case .head(let head):
                var text = "\(head.byteCount) \(head.status) \(head.keepAlive) \(head.body)"
                head.forEachField(in: unsafe ByteSlice(Array(bytes))) {
                    text += "; \($0.array.text): \($1.array.text)"
                }
                return text + "; " + body(head, Array(input[head.byteCount...]), by: step)
            }
        }
    }

    private static func body(_ head: ResponseHead, _ rest: [UInt8], by step: Int) -> String {
        var decoder = BodyDecoder(head.body, limits: limits)
        var body = ByteBuffer()
        let failure = unsafe feed(rest, by: step) { bytes, _ in
            if decoder.isDone { return "" }
            if case .failed(let error) = unsafe decoder.decode(bytes, into: &body) {
                return "failed: \(error)"
            }
            return nil
        }
        if let failure, !failure.isEmpty { return failure }
        return "\(decoder.isDone) \(body.slice(0 ..< body.count).array)"
    }

    private static func chunked(_ input: [UInt8], by step: Int) -> String {
        var decoder = ChunkedDecoder(limits: limits)
        var body = ByteBuffer()
        let verdict = unsafe feed(input, by: step) { bytes, start in
            switch unsafe decoder.decode(bytes, into: &body) {
            case .needMore: nil
            case .done(let count): "\(start + count) \(body.slice(0 ..< body.count).array)"
            case .failed(let error): "failed: \(error)"
            }
        }
        return verdict ?? "needs more, \(body.slice(0 ..< body.count).array)"
    }
}
