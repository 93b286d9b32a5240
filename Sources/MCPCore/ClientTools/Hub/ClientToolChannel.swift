/// What the hub knows of one channel.
struct ClientToolChannel: Sendable {
    /// By client; the empty name is the façade's.
    var registrations: [String: ClientRegistration] = [:]
    var catalog = ClientToolCatalog()
    /// What agents see, by name: made anew only for what has changed.
    var shown: [String: ShownClientTool] = [:]
    var feed = EventFeed()
    /// The channel as the façade's clients call it.
    var sentName: String?
    /// When clients registered, within the last minute.
    var recent: [MonotonicInstant] = []

    /// Whether there is nothing to remember.
    var isEmpty: Bool { !isUsed && recent.isEmpty && feed.graceEnd == nil }
    /// Whether somebody is here.
    var isUsed: Bool { !registrations.isEmpty || !feed.isEmpty }

    /// When somebody registered last, within the last minute.
    var lastCame: MonotonicInstant { recent.last ?? MonotonicInstant(nanoseconds: 0) }

    static let minute = Duration.seconds(60)

    mutating func forgetOldRegistrations(at now: MonotonicInstant) {
        recent.removeAll { $0 + Self.minute <= now }
    }

    /// Counts a registration; false when there were too many.
    mutating func admitRegistration(at now: MonotonicInstant) -> Bool {
        forgetOldRegistrations(at: now)
        guard recent.count < ClientToolLimits.registrationsPerMinute else { return false }
        recent.append(now)
        return true
    }

    /// Clients whose tools are listed: those that are there, and those that have just gone.
    var listed: [ClientRegistration] {
        registrations.values.filter { !$0.isHidden }.sorted { $0.order < $1.order }
    }

    /// Since when there is nothing but a registration of the façade that nobody listens for.
    var desertedAt: MonotonicInstant? {
        guard feed.isEmpty, registrations.count == 1, let facade = registrations[""], facade.isHidden else {
            return nil
        }
        return facade.lostAt
    }

    /// Somebody listens to the events. True: the façade's tools were hidden until now.
    mutating func facadeIsHeard() -> Bool {
        let wasHidden = registrations[""]?.isHidden ?? false
        registrations[""]?.lostAt = nil
        registrations[""]?.isHidden = false
        return wasHidden
    }
}

/// A tool of clients as it is registered in the channel's server.
struct ShownClientTool: Sendable {
    let definition: ClientToolDefinition
    let client: String
    let entry: ToolEntry
}
