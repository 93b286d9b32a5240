/// The hub's state of one channel.
struct ClientToolChannel: Sendable {
    /// The registrations, by client; the empty name is the façade's.
    var registrations: [String: ClientRegistration] = [:]
    var catalog = ClientToolCatalog()
    /// The tools that agents see, by name; only changed ones are created again.
    var shown: [String: ShownClientTool] = [:]
    /// What the clients tell a model about their tools, and what of that is left out or changed.
    var guidance: [String] = []
    var remarks: Set<String> = []
    var feed = EventFeed()
    /// Whether a client that sent a token, or needed none, has registered; otherwise the channel counts among
    /// those of callers without a token.
    var isReserved = false
    /// The channel's name as sent by the façade's clients.
    var sentName: String?
    /// The times of the registrations within the last minute.
    var recent: [MonotonicInstant] = []

    /// Whether there is no state to keep.
    var isEmpty: Bool { !isUsed && recent.isEmpty && feed.graceEnd == nil }
    /// Whether there are clients or listeners.
    var isUsed: Bool { !registrations.isEmpty || !feed.isEmpty }

    /// The time of the last registration within the last minute.
    var lastCame: MonotonicInstant { recent.last ?? MonotonicInstant(nanoseconds: 0) }

    static let minute = Duration.seconds(60)

    mutating func forgetOldRegistrations(at now: MonotonicInstant) {
        recent.removeAll { $0 + Self.minute <= now }
    }

    /// Counts a registration; returns false when there were too many.
    mutating func admitRegistration(at now: MonotonicInstant) -> Bool {
        forgetOldRegistrations(at: now)
        guard recent.count < ClientToolLimits.registrationsPerMinute else { return false }
        recent.append(now)
        return true
    }

    /// The clients whose tools are listed: those that are connected, and those that have just disconnected.
    var listed: [ClientRegistration] {
        registrations.values.filter { !$0.isHidden }.sorted { $0.order < $1.order }
    }

    /// The time since which there has been only a registration of the façade without any listener.
    var desertedAt: MonotonicInstant? {
        guard feed.isEmpty, registrations.count == 1, let facade = registrations[""], facade.isHidden else {
            return nil
        }
        return facade.lostAt
    }

    /// Records that there is a listener to the events. Returns true when the façade was gone until now.
    mutating func facadeIsHeard() -> Bool {
        let wasGone = registrations[""]?.isUp == false
        registrations[""]?.lostAt = nil
        registrations[""]?.isHidden = false
        return wasGone
    }
}

/// A tool of clients as it is registered in the channel's server.
struct ShownClientTool: Sendable {
    let definition: ClientToolDefinition
    /// The clients that run a call which names none: one, unless all do.
    let clients: [String]
    let entry: ToolEntry
}
