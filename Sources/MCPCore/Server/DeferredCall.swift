import Synchronization

/// A request whose answer comes later, as its handler sees it: whether anybody still waits, and who answers
/// the handler's questions.
final class DeferredCall: Sendable {
    let request: Dispatcher.Request
    let exchange: Exchange
    let dispatcher: Dispatcher
    /// Log messages that were sent or held back.
    let logged = Atomic<Int>(0)

    /// Who the handler works for.
    private enum Role {
        /// The client that waits for the answer to this request.
        case request
    }

    private let role = Mutex(Role.request)
    /// What the handler asked, and what is answered.
    let asking: Mutex<Asking>

    init(
        _ request: Dispatcher.Request, _ exchange: Exchange, _ dispatcher: Dispatcher,
        retry: InputRetry? = nil
    ) {
        self.request = request
        self.exchange = exchange
        self.dispatcher = dispatcher
        asking = Mutex(Asking(retry))
    }

    /// Whether nobody waits for the outcome any more.
    var isOver: Bool { exchange.isOver }

    /// Who answers questions that are asked now.
    var inputSource: any InputSource {
        get throws(MCPError) {
            switch role.withLock({ $0 }) {
            case .request: try request.verdict.isModern ? rounds : ServerQuestions(self)
            }
        }
    }

    private var rounds: InputRounds {
        get throws(MCPError) {
            guard request.verdict.entry.flags.contains(.asksForInput) else {
                // MRTR-02
                throw .internalError("\(request.message.method) cannot ask the client anything")
            }
            return asking.withLock { asking in
                let rounds = asking.rounds ?? InputRounds(limit: dispatcher.options.limits.openQuestions)
                asking.rounds = rounds
                return rounds
            }
        }
    }
}
