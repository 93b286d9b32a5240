/// The calls of a channel as events for the façade's clients, with those that one may have missed.
struct EventFeed: Sendable {
    /// Somebody at the other end of an event stream.
    struct Listener: Sendable {
        /// It answers calls; others only hear of them.
        let wantsResults: Bool
        /// False: it does not read.
        let send: @Sendable (_ id: String, _ data: ByteSlice) -> Bool
        let end: @Sendable () -> Void
    }

    private var listeners: [Int: Listener] = [:]
    private var nextListener = 0
    /// Its name is another one after the channel was empty.
    private var log = ReplayLog(
        name: Hex.encode(SystemRandom().bytes(4)), maxEvents: ClientToolLimits.keptEvents,
        maxBytes: ClientToolLimits.keptEventBytes)
    /// When calls are given up whose listeners have gone.
    var graceEnd: MonotonicInstant?

    var isEmpty: Bool { listeners.isEmpty }
    var count: Int { listeners.count }
    var wantsResults: Bool { listeners.values.contains(where: \.wantsResults) }

    /// Adds a listener that has seen events up to this id: what came after it is sent again. Without an id
    /// nothing is.
    mutating func add(_ listener: Listener, after lastEventID: String?) -> Int {
        if let lastEventID {
            // An id of another life of the channel was seen before everything that is kept.
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

    /// Sends an event to all. False when nobody hears it; then it is not kept either.
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
