import Synchronization

/// A source of answers to the questions of a handler.
///
/// A stateless request is answered with the questions and starts again with the answers
/// (`MultiRoundTripInput`). A client of a handshake revision receives server requests while the handler waits
/// (`ServerRequestInput`). A task keeps its questions until they are answered.
protocol InputSource: AnyObject, Sendable {
    /// Returns the answers to all requests, by their keys.
    ///
    /// - Throws: `InputPending` when the call starts again with the answers, `CancellationError` when no
    ///   answer can come any more, `MCPError` when the client failed.
    func ask(_ requests: [String: InputRequest]) async throws -> [String: JSONValue]
}

/// An error that ends a handler whose answers are not available yet: the call starts again once they are.
struct InputPending: Error, CustomStringConvertible {
    var description: String { "the answer is not available yet; the call starts again when it is" }
}

/// The collected questions of a stateless request, which become the response to it (basic/patterns/mrtr).
final class MultiRoundTripInput: InputSource {
    private let open = Mutex<[String: InputRequest]>([:])
    private let limit: Int

    init(limit: Int) { self.limit = limit }

    /// The questions that have not been answered.
    var questions: [String: InputRequest] { open.withLock { $0 } }

    func ask(_ requests: [String: InputRequest]) async throws -> [String: JSONValue] {
        let isTooMuch = open.withLock { open in
            let all = open.merging(requests) { $1 }
            guard all.count <= limit else { return true }
            open = all
            return false
        }
        if isTooMuch { throw MCPError.tooManyQuestions(limit) }
        throw InputPending()
    }
}

/// The data that the retry of a stateless request contains.
struct InputRetry: Sendable {
    /// The answers by key: those of earlier rounds, and those that came with this request.
    var answers: [String: JSONValue]
    /// The state that the handler asked to keep.
    var state: JSONValue?
    /// The `requestState`; nil without one.
    var sealed: Sealed?

    /// What a `requestState` says about its rounds.
    struct Sealed: Sendable {
        /// The chain that the rounds belong to.
        let chain: RequestState.Chain
        /// The codes of the questions that were asked, by key.
        let questions: [String: [UInt8]]
        /// The time at which it was made; not before that if it is not exactly known.
        let made: MonotonicInstant
    }
}

extension MCPError {
    static func tooManyQuestions(_ limit: Int) -> MCPError {
        .internalError("A request may have at most \(limit) open questions")
    }

    static var unheard: MCPError {
        .internalError("The question was not answered: the server is stopping, and no answer can arrive")
    }
}

/// A source that asks a client of a handshake revision: one server request for each question, on the stream
/// of the request that is being served (LEG-05). The handler waits.
final class ServerRequestInput: InputSource {
    private let call: DeferredCall
    private var exchange: PendingRequest { call.exchange }
    private var dispatcher: Dispatcher { call.dispatcher }

    init(_ call: DeferredCall) { self.call = call }

    func ask(_ requests: [String: InputRequest]) async throws -> [String: JSONValue] {
        try Task.checkCancellation()
        let questions = requests.sorted { $0.key < $1.key }.map { key, request in
            (key: key, call: ServerRequest(method: request.method, params: params(of: request)))
        }
        let calls = questions.map(\.call)
        try open(calls)
        defer { close(calls) }
        for call in calls { exchange.notify(call.message) }
        return try await withTaskCancellationHandler {
            var answers: [String: JSONValue] = [:]
            for (key, call) in questions { answers[key] = try await call.result() }
            return answers
        } onCancel: {
            giveUp(calls)
        }
    }

    private func params(of request: InputRequest) -> ByteSlice {
        var writer = JSONWriter()
        request.writeParams(to: &writer, for: exchange.revision)
        return writer.finish()
    }

    private func open(_ calls: [ServerRequest]) throws {
        let limits = dispatcher.options.limits
        // Registered before they are sent, because a response may come immediately.
        for call in calls { dispatcher.serverCalls.insert(call, channelID: exchange.key.channelID) }
        do {
            try exchange.open(
                calls, limit: limits.maxOpenQuestions, now: dispatcher.clock.now.nanoseconds,
                timeout: limits.inputTimeout.wholeNanoseconds)
        } catch {
            forget(calls)
            switch error {
            case .over: throw CancellationError()
            case .tooMany: throw MCPError.tooManyQuestions(limits.maxOpenQuestions)
            case .unheard: throw MCPError.unheard
            }
        }
        dispatcher.deadlines.watch(exchange)
    }

    private func close(_ calls: [ServerRequest]) {
        giveUp(calls)
        forget(calls)
        exchange.close(calls, now: dispatcher.clock.now.nanoseconds)
        dispatcher.deadlines.watch(exchange)
    }

    /// Withdraws the requests that have not been answered.
    private func giveUp(_ calls: [ServerRequest]) {
        for call in calls where call.settle(.failure(CancellationError())) {
            exchange.notify(call.cancellation)
        }
    }

    private func forget(_ calls: [ServerRequest]) {
        for call in calls { _ = dispatcher.serverCalls.take(call.id, channelID: exchange.key.channelID) }
    }
}

extension Dispatcher {
    /// Accepts a response. One that no request waits for, or that comes from another client, is dropped; over
    /// HTTP without a session, where no request can wait for one, it is refused (HTTP-08).
    func take(
        response message: Message, _ channel: ServerChannel, _ writer: inout JSONWriter
    ) -> Disposition {
        guard let id = message.id, let call = serverCalls.take(id, channelID: channel.id) else {
            counters.count(.strayResponses)
            guard channel.claims != nil, channel.session == nil else { return .dropped }
            // Without its id, which is one of ours and could be mistaken for that of a client's request.
            let error = MCPError.invalidRequest("No request is waiting for this response; send only requests")
            report(refused: error, from: channel)
            return refuse(Refusal(error), id: nil, session: channel.session, &writer)
        }
        call.settle(with: message)
        return .accepted
    }
}
