/// Asks a client of a handshake revision: one request of the server for each question, on the stream of the
/// request that is being served (LEG-05). The handler waits.
final class ServerQuestions: InputSource {
    private let call: DeferredCall
    private var exchange: PendingRequest { call.exchange }
    private var dispatcher: Dispatcher { call.dispatcher }

    init(_ call: DeferredCall) { self.call = call }

    func ask(_ requests: [String: InputRequest]) async throws -> [String: JSONValue] {
        try Task.checkCancellation()
        let questions = requests.sorted { $0.key < $1.key }.map { key, request in
            (key: key, call: ServerCall(method: request.method, params: params(of: request)))
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

    private func open(_ calls: [ServerCall]) throws {
        let limits = dispatcher.options.limits
        // Known before they are sent: an answer may come at once.
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
            }
        }
        dispatcher.deadlines.watch(exchange)
    }

    private func close(_ calls: [ServerCall]) {
        giveUp(calls)
        forget(calls)
        exchange.close(calls, now: dispatcher.clock.now.nanoseconds)
        dispatcher.deadlines.watch(exchange)
    }

    /// Takes back what is not answered.
    private func giveUp(_ calls: [ServerCall]) {
        for call in calls where call.settle(.failure(CancellationError())) {
            exchange.notify(call.cancellation)
        }
    }

    private func forget(_ calls: [ServerCall]) {
        for call in calls { _ = dispatcher.serverCalls.take(call.id, channelID: exchange.key.channelID) }
    }
}

extension Dispatcher {
    /// Takes a response. One that nobody waits for, or that comes from somebody else, is dropped; over HTTP
    /// and without a session, where nobody can wait for one, it is refused (HTTP-08).
    func take(
        response message: Message, _ channel: ServerChannel, _ writer: inout JSONWriter
    ) -> Disposition {
        guard let id = message.id, let call = serverCalls.take(id, channelID: channel.id) else {
            counters.count(.strayResponses)
            guard channel.claims != nil, channel.session == nil else { return .dropped }
            // Without its id, which is one of ours and could be taken for that of a request of the client.
            let error = MCPError.invalidRequest("No request waits for this response; send requests only")
            return refuse(Refusal(error), id: nil, session: channel.session, &writer)
        }
        call.settle(with: message)
        return .accepted
    }
}
