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

    init(_ request: Dispatcher.Request, _ exchange: Exchange, _ dispatcher: Dispatcher) {
        self.request = request
        self.exchange = exchange
        self.dispatcher = dispatcher
    }

    /// Whether nobody waits for the outcome any more.
    var isOver: Bool { exchange.isOver }
}
