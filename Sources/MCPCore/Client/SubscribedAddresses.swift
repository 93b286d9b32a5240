/// The addresses that a session of the handshake revisions is subscribed to, once for all who watch them.
///
/// Only one request about an address is in flight. Later callers wait for its answer: it may be a refusal,
/// and a server may handle requests out of order.
struct SubscribedAddresses {
    /// A request about an address; it ends with the error for those who wait for the subscription.
    typealias Exchange = OneShot<(any Error)?>

    /// What a caller who wants to watch an address has to do.
    enum Step {
        /// Nothing: the session is subscribed, and it counts.
        case joined
        /// To look again after a request in flight.
        case wait(Exchange)
        /// To subscribe, and to call `settle`.
        case ask
    }

    private struct Address {
        var watchers = 0
        /// Whether the server reports it, as far as that is known.
        var isSubscribed = false
        var exchange: Exchange?
    }

    private var addresses: [String: Address] = [:]

    /// Those that a new session has to subscribe to: what nobody watches any more is left out.
    var wanted: [String] {
        addresses.filter { $0.value.watchers > 0 || !$0.value.isSubscribed }.keys.sorted()
    }

    /// Adds a watcher, if the session is subscribed.
    mutating func join(_ uri: String) -> Step {
        var address = addresses[uri] ?? Address()
        if let exchange = address.exchange { return .wait(exchange) }
        if address.isSubscribed {
            address.watchers += 1
        } else {
            address.exchange = Exchange()
        }
        addresses[uri] = address
        return address.isSubscribed ? .joined : .ask
    }

    /// Begins to subscribe again to an address that is watched. Returns whether `settle` has to follow; nil
    /// when nobody watches it.
    mutating func renew(_ uri: String) -> Bool? {
        guard let address = addresses[uri], address.watchers > 0 || !address.isSubscribed else { return nil }
        guard address.exchange == nil else { return false }
        addresses[uri]?.exchange = Exchange()
        return true
    }

    /// Removes a watcher. Returns whether the caller has to unsubscribe, and to call `settle`.
    mutating func leave(_ uri: String) -> Bool {
        guard let address = addresses[uri] else { return false }
        addresses[uri]?.watchers = max(0, address.watchers - 1)
        // Otherwise this is decided when the request in flight is answered.
        return address.exchange == nil && isToBeLeft(uri)
    }

    /// Ends a request about an address.
    ///
    /// - Parameters:
    ///   - isSubscribed: whether the server may report it from now on.
    ///   - watchers: those who watch it thanks to this request.
    ///   - error: what those who wait for the subscription fail with.
    /// - Returns: whether the caller has to unsubscribe now, and to call `settle` again.
    mutating func settle(
        _ uri: String, isSubscribed: Bool, adding watchers: Int = 0, error: (any Error)? = nil
    ) -> Bool {
        guard let exchange = addresses[uri]?.exchange else { return false }
        addresses[uri]?.isSubscribed = isSubscribed
        addresses[uri]?.watchers += watchers
        addresses[uri]?.exchange = nil
        defer { exchange.finish(error) }
        return isToBeLeft(uri)
    }

    /// Begins to unsubscribe if nobody watches the address, or forgets it.
    private mutating func isToBeLeft(_ uri: String) -> Bool {
        guard let address = addresses[uri], address.watchers == 0 else { return false }
        addresses[uri] = address.isSubscribed ? Address(isSubscribed: true, exchange: Exchange()) : nil
        return address.isSubscribed
    }
}
