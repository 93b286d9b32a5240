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
    func listed(at now: MonotonicInstant, graceTime: Duration) -> [ClientRegistration] {
        registrations.values.filter { registration in
            registration.isUp || registration.lostAt.map { now < $0 + graceTime } ?? false
        }.sorted { $0.order < $1.order }
    }
}

/// A tool of clients as it is registered in the channel's server.
struct ShownClientTool: Sendable {
    let definition: ClientToolDefinition
    let client: String
    let entry: ToolEntry
}
