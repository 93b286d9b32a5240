/// Collects the body of a request that did not come in one piece.
struct BodyReader {
    enum Outcome {
        case needMore
        case done(ByteSlice)
        case failed(HTTPError)
    }

    /// The head's own bytes, which the header claims point into.
    let headBytes: ByteSlice
    let deadline: MonotonicInstant
    /// Who takes the request; nil: the side door.
    let endpoint: StreamableEndpoint?
    private let startedAt: MonotonicInstant
    private let length: Int?
    private var decoder: ChunkedDecoder?
    private var received = 0
    private let collected: BodyBox

    /// Slower than this after the first seconds is not a slow network but an attack (fault 62).
    private static let minimumBytesPerSecond: Int64 = 1024
    private static let graceSeconds: Int64 = 5

    init(
        _ head: RequestHead, bytes: ByteSlice, startedAt: MonotonicInstant, options: HTTPServerOptions,
        endpoint: StreamableEndpoint?
    ) {
        headBytes = bytes
        self.endpoint = endpoint
        self.startedAt = startedAt
        deadline = startedAt + options.bodyTimeout
        length = head.isChunked ? nil : head.contentLength ?? 0
        decoder = head.isChunked ? ChunkedDecoder(limits: options.limits) : nil
        collected = BodyBox()
    }

    mutating func read(_ input: inout ByteBuffer) -> Outcome {
        received += input.count
        guard decoder != nil else { return readLength(&input) }
        let outcome = unsafe input.withBytes { unsafe decoder?.decode($0, into: &collected.bytes) }
        switch outcome {
        case .needMore, nil:
            input.consume(input.count)
            return .needMore
        case .failed(let error): return .failed(error)
        case .done(let consumed):
            input.consume(consumed)
            return .done(collected.take())
        }
    }

    private mutating func readLength(_ input: inout ByteBuffer) -> Outcome {
        let length = length ?? 0
        // Nothing is copied: the body grows in the input buffer, and only as fast as it comes.
        received = input.count
        guard input.count >= length else { return .needMore }
        let body = input.slice(0 ..< length)
        input.consume(length)
        return .done(body)
    }

    func isTooSlow(at now: MonotonicInstant) -> Bool {
        if now >= deadline { return true }
        let seconds = (now - startedAt).components.seconds
        return seconds >= Self.graceSeconds
            && Int64(received) < (seconds - Self.graceSeconds) * Self.minimumBytesPerSecond
    }

    /// The decoded bytes, kept beside the struct because a buffer has one owner.
    private final class BodyBox {
        var bytes = ByteBuffer()

        func take() -> ByteSlice {
            var taken = ByteBuffer()
            swap(&taken, &bytes)
            return taken.freeze()
        }
    }
}
