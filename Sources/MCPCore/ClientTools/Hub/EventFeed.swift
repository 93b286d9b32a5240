/// The calls of a channel as events for the façade's clients, including recent ones that a client may have
/// missed.
struct EventFeed: Sendable {
    /// The receiver of an event stream.
    struct Listener: Sendable {
        /// Whether it answers calls; other listeners are only notified about them.
        let wantsResults: Bool
        /// Sends an event; returns false when the listener does not read.
        let send: @Sendable (_ id: String, _ data: ByteSlice) -> Bool
        let end: @Sendable () -> Void
    }

    private var listeners: [Int: Listener] = [:]
    private var nextListener = 0
    /// The sent events. The log gets a new name after the channel was empty.
    private var log = ReplayLog(
        name: Hex.encode(SystemRandom().bytes(4)), maxEvents: ClientToolLimits.keptEvents,
        maxBytes: ClientToolLimits.keptEventBytes)
    /// The time at which calls whose listeners have gone are given up.
    var graceEnd: MonotonicInstant?

    var isEmpty: Bool { listeners.isEmpty }
    var count: Int { listeners.count }
    var wantsResults: Bool { listeners.values.contains(where: \.wantsResults) }

    /// Adds a listener that has seen events up to this id; later events are sent again. Without an id, none
    /// are.
    mutating func add(_ listener: Listener, after lastEventID: String?) -> Int {
        if let lastEventID {
            // An id from an earlier life of the channel precedes everything that is kept.
            for event in log.events(after: log.number(of: lastEventID) ?? 0) {
                _ = listener.send(log.id(of: event.number), event.data)
            }
        }
        nextListener += 1
        listeners[nextListener] = listener
        if listener.wantsResults { graceEnd = nil }
        return nextListener
    }

    mutating func remove(_ listener: Int) { listeners.removeValue(forKey: listener) }

    /// Sends an event to all listeners. Returns false when none receives it; it is not kept in that case.
    mutating func send(_ data: ByteSlice) -> Bool {
        var isHeard = false
        for (key, listener) in listeners {
            if listener.send(log.id(of: log.last + 1), data) {
                isHeard = true
            } else {
                listener.end()
                listeners.removeValue(forKey: key)
            }
        }
        if isHeard { log.append(data) }
        return isHeard
    }

    func endAll() { for listener in listeners.values { listener.end() } }
}
