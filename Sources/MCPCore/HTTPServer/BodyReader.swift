/// A reader that collects the body of a request that did not arrive in one piece.
struct BodyReader {
    enum Outcome {
        case needMore
        case done(ByteSlice)
        case failed(HTTPError)
    }

    /// The bytes of the head, which the header claims refer to.
    let headBytes: ByteSlice
    let deadline: MonotonicInstant
    /// The handler that serves the request.
    let handler: RequestHandler
    /// Counts the body as one that its caller sends.
    private var place: WaitingResponses.Place?
    private let startedAt: MonotonicInstant
    private let length: Int?
    private var decoder: ChunkedDecoder?
    private var received = 0
    /// The number of bytes received at the last check for slowness.
    private var receivedBefore = 0
    private let collected: BodyBox

    /// The minimum rate; anything slower after the first few seconds is not a slow network but an attack
    /// (fault 62).
    private static let minimumBytesPerSecond: Int64 = 1024
    private static let graceSeconds: Int64 = 5
    /// The room after the body, so that the block can also hold the next request with its head.
    private static let spareBytes = 128 * 1024

    init(
        _ head: RequestHead, bytes: ByteSlice, startedAt: MonotonicInstant, options: HTTPServerOptions,
        handler: RequestHandler, waiting: WaitingResponses? = nil
    ) {
        // A body that arrives in pieces may take long, and the block that its head was read into is needed
        // again.
        headBytes = bytes.copy()
        self.handler = handler
        place = waiting.map { WaitingResponses.Place($0) }
        self.startedAt = startedAt
        deadline = startedAt + options.bodyTimeout
        length = head.isChunked ? nil : head.contentLength ?? 0
        decoder = head.isChunked ? ChunkedDecoder(limits: options.limits) : nil
        collected = BodyBox()
    }

    /// Stops counting the body, which has arrived.
    mutating func leave() { place = nil }

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
        // The body grows in the input buffer, only as fast as it arrives. Once a quarter of it has arrived,
        // room is reserved for all of it, so that little has to be moved.
        received = input.count
        guard input.count >= length else {
            if input.count >= length / 4 { input.reserve(exactly: length - input.count + Self.spareBytes) }
            return .needMore
        }
        let body = input.slice(0 ..< length)
        input.consume(length)
        return .done(body)
    }

    /// Returns whether the body arrives too slowly; called every few seconds.
    ///
    /// - Parameter memoryIsShort: whether other connections wait for this one's memory; the body must then
    ///   keep growing.
    mutating func isTooSlow(at now: MonotonicInstant, memoryIsShort: Bool) -> Bool {
        if now >= deadline || (memoryIsShort && received == receivedBefore) { return true }
        receivedBefore = received
        let seconds = (now - startedAt).components.seconds
        return seconds >= Self.graceSeconds
            && Int64(received) < (seconds - Self.graceSeconds) * Self.minimumBytesPerSecond
    }

    /// The memory held by what has been decoded so far.
    var collectedBytes: Int { decoder == nil ? 0 : collected.bytes.capacity }

    /// The decoded bytes, kept outside the struct because a buffer has one owner.
    private final class BodyBox {
        var bytes = ByteBuffer()

        func take() -> ByteSlice {
            var taken = ByteBuffer()
            swap(&taken, &bytes)
            return taken.freeze()
        }
    }
}
