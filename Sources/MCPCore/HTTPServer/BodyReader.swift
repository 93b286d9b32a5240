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
    /// Who serves the request.
    let handler: RequestHandler
    private let startedAt: MonotonicInstant
    private let length: Int?
    private var decoder: ChunkedDecoder?
    private var received = 0
    /// When it was last asked whether it is too slow.
    private var receivedBefore = 0
    private let collected: BodyBox

    /// Slower than this after the first seconds is not a slow network but an attack (fault 62).
    private static let minimumBytesPerSecond: Int64 = 1024
    private static let graceSeconds: Int64 = 5
    /// Room behind the body, so that the block also holds the next request with its head.
    private static let spareBytes = 128 * 1024

    init(
        _ head: RequestHead, bytes: ByteSlice, startedAt: MonotonicInstant, options: HTTPServerOptions,
        handler: RequestHandler
    ) {
        // What comes piece by piece may take long, and the block that its head was read into is needed.
        headBytes = bytes.copy()
        self.handler = handler
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
        // The body grows in the input buffer, and only as fast as it comes. Whoever has sent a quarter gets
        // room for all of it, so that little is moved.
        received = input.count
        guard input.count >= length else {
            if input.count >= length / 4 { input.reserve(exactly: length - input.count + Self.spareBytes) }
            return .needMore
        }
        let body = input.slice(0 ..< length)
        input.consume(length)
        return .done(body)
    }

    /// Asked every few seconds.
    ///
    /// - Parameter memoryIsShort: others wait for the memory of this one, which must then go on growing.
    mutating func isTooSlow(at now: MonotonicInstant, memoryIsShort: Bool) -> Bool {
        if now >= deadline || (memoryIsShort && received == receivedBefore) { return true }
        receivedBefore = received
        let seconds = (now - startedAt).components.seconds
        return seconds >= Self.graceSeconds
            && Int64(received) < (seconds - Self.graceSeconds) * Self.minimumBytesPerSecond
    }

    /// Memory of what is decoded already.
    var collectedBytes: Int { decoder == nil ? 0 : collected.bytes.capacity }

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
