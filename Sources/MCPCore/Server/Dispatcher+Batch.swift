import Synchronization

/// Batches of 2025-03-26 (JRPC-19): several messages in, one array of responses out.
extension Dispatcher {
    /// Serves the messages of a batch, a feature of 2025-03-26.
    func serveBatch(
        _ message: Message, from channel: inout ServerChannel, into writer: inout JSONWriter, sink: SinkMaker
    ) -> Disposition {
        let elements = RawJSON(unchecked: message.bytes).elements ?? []
        guard !elements.isEmpty, elements.count <= options.limits.maxBatchMessages else {
            let text =
                elements.isEmpty
                ? "A batch must contain at least one message"
                : "A batch may contain at most \(options.limits.maxBatchMessages) messages"
            return refuse(.invalidRequest(text), id: nil, channel, &writer)
        }
        let batch = BatchSink(limit: options.limits.maxOutputBytes)
        for (index, element) in elements.enumerated() {
            // The first one was counted when the request was admitted that brought the batch.
            if index > 0, let excess = channel.caller?.countMessage(at: clock.now) {
                refuseElement(element, beyond: excess, from: channel, batch)
                continue
            }
            let disposition = serveElement(element, from: &channel, batch)
            if case .deferred = disposition { batch.expectOne() }
        }
        if let answers = batch.answersIfComplete() {
            guard !answers.isEmpty else { return .accepted }
            writer.startMessage()
            writer.out.append(answers)
            return .answered(status: 200)
        }
        batch.complete(into: sink())
        return .deferred(nil)
    }

    /// Refuses a batch, or a message that must not be in one.
    private func refuse(
        _ error: MCPError, id: ByteSlice?, _ channel: ServerChannel, _ writer: inout JSONWriter
    ) -> Disposition {
        report(refused: error, from: channel)
        return refuse(Refusal(error), id: id, session: channel.session, &writer)
    }

    /// Refuses a message that is beyond the rate of its caller. Only a request has an answer.
    private func refuseElement(
        _ element: RawJSON, beyond excess: RateMeter.Excess, from channel: ServerChannel, _ batch: BatchSink
    ) {
        if let reason = excess.reason, let identity = channel.caller?.identity {
            identity.onAccess?(AccessEvent(isAllowed: false, principal: identity.principal, reason: reason))
        }
        let error = MCPError(
            code: MCPError.rateExceededCode, message: "\(excess.text); try again in \(excess.retryAfter) s")
        report(refused: error, from: channel)
        let message = try? MessageScanner.scan(element.bytes, limits: jsonLimits)
        guard let message, message.head.kind == .request else {
            return counters.count(.refused)
        }
        var writer = JSONWriter()
        let id = message.bytes[message.head.id.range]
        _ = refuse(Refusal(error), id: id, session: channel.session, &writer)
        batch.add(writer.finish())
    }

    private func serveElement(
        _ element: RawJSON, from channel: inout ServerChannel, _ batch: BatchSink
    ) -> Disposition {
        var writer = JSONWriter()
        let disposition: Disposition
        do {
            let message = try MessageScanner.scan(element.bytes, limits: jsonLimits)
            // `initialize` must be sent on its own (LIFE-09).
            disposition =
                message.method == "initialize"
                ? refuse(
                    .invalidRequest("initialize must not be in a batch"),
                    id: message.raw(message.head.id)?.bytes, channel, &writer)
                : serve(message, from: &channel, into: &writer) { batch }
        } catch {
            disposition = refuseUnreadable(error, channel, &writer)
        }
        if case .answered = disposition { batch.add(writer.finish()) }
        return disposition
    }
}

/// A sink that collects the responses of one batch; the last response sends them all.
final class BatchSink: ResponseSink {
    private struct State {
        var answers: [ByteSlice] = []
        var expected = 0
        var finished = 0
        var sink: (any ResponseSink)?
        /// The messages that came before the whole batch was read, because handlers run in the meantime.
        var early: [ByteSlice] = []
        var earlyBytes = 0
        var isSent = false
    }

    private let state = Mutex(State())
    /// The maximum number of bytes in `early`; further messages are dropped.
    private let limit: Int

    init(limit: Int) { self.limit = limit }

    var executor: (any TaskExecutor)? { state.withLock { $0.sink?.executor } }

    func add(_ answer: ByteSlice) { state.withLock { $0.answers.append(answer) } }

    func expectOne() { state.withLock { $0.expected += 1 } }

    /// Returns all responses as one array when none is outstanding; empty when no message required one.
    func answersIfComplete() -> ByteSlice? {
        state.withLock { $0.finished == $0.expected ? Self.array($0.answers) : nil }
    }

    /// Sends the responses to `sink` once all of them have arrived.
    func complete(into sink: any ResponseSink) {
        let (isComplete, early) = state.withLock { state in
            state.sink = sink
            defer { state.early = [] }
            return (state.finished == state.expected, state.early)
        }
        for message in early { sink.notify(message) }
        if isComplete { send() }
    }

    func notify(_ message: ByteSlice) {
        let sink = state.withLock { state -> (any ResponseSink)? in
            if state.sink == nil, !state.isSent, state.earlyBytes < limit {
                state.early.append(message)
                state.earlyBytes += message.count
            }
            return state.sink
        }
        sink?.notify(message)
    }

    func finish(_ answer: Answer?) {
        let isComplete = state.withLock { state in
            state.finished += 1
            if let answer { state.answers.append(answer.bytes) }
            return state.sink != nil && state.finished == state.expected
        }
        if isComplete { send() }
    }

    private func send() {
        let (sink, answers) = state.withLock { state in
            let sink = state.sink
            state.sink = nil
            state.isSent = true
            return (sink, Self.array(state.answers))
        }
        sink?.finish(answers.isEmpty ? nil : Answer(bytes: answers, status: 200))
    }

    private static func array(_ answers: [ByteSlice]) -> ByteSlice {
        guard !answers.isEmpty else { return ByteSlice() }
        var out = ByteBuffer()
        for (index, answer) in answers.enumerated() {
            out.append(index == 0 ? UInt8(ascii: "[") : UInt8(ascii: ","))
            out.append(answer)
        }
        out.append(UInt8(ascii: "]"))
        return out.freeze()
    }
}
