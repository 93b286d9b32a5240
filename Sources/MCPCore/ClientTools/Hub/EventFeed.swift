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
    /// The channel's part of event ids: another one after the channel was empty.
    private let name = Hex.encode(SystemRandom().bytes(4))
    private var last = 0
    private var kept: [(number: Int, data: ByteSlice)] = []
    private var keptBytes = 0
    /// When calls are given up whose listeners have gone.
    var graceEnd: MonotonicInstant?

    var isEmpty: Bool { listeners.isEmpty }
    var count: Int { listeners.count }
    var wantsResults: Bool { listeners.values.contains(where: \.wantsResults) }

    /// Adds a listener that has seen events up to this id: what came after it is sent again. Without an id
    /// nothing is.
    mutating func add(_ listener: Listener, after lastEventID: String?) -> Int {
        if let lastEventID {
            let seen = number(of: lastEventID)
            for event in kept where event.number > seen { _ = listener.send(id(event.number), event.data) }
        }
        nextListener += 1
        listeners[nextListener] = listener
        if listener.wantsResults { graceEnd = nil }
        return nextListener
    }

    /// An id of another life of the channel was seen before everything that is kept.
    private func number(of id: String) -> Int {
        let parts = id.split(separator: "-")
        guard parts.count == 2, parts[0] == name, let number = Int(parts[1]) else { return 0 }
        return number
    }

    private func id(_ number: Int) -> String { "\(name)-\(number)" }

    mutating func remove(_ listener: Int) { listeners.removeValue(forKey: listener) }

    /// Sends an event to all. False when nobody hears it; then it is not kept either.
    mutating func send(_ data: ByteSlice) -> Bool {
        last += 1
        var isHeard = false
        for (key, listener) in listeners {
            if listener.send(id(last), data) {
                isHeard = true
            } else {
                listener.end()
                listeners.removeValue(forKey: key)
            }
        }
        guard isHeard else { return false }
        kept.append((last, data))
        keptBytes += data.count
        while kept.count > ClientToolLimits.keptEvents || keptBytes > ClientToolLimits.keptEventBytes {
            keptBytes -= kept.removeFirst().data.count
        }
        return true
    }

    func endAll() { for listener in listeners.values { listener.end() } }
}
