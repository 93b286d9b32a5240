/// One client of a channel, with its tools and its connection.
struct ClientRegistration: Sendable {
    /// The client's name; empty for the façade, whose clients have none.
    let client: String
    /// The position of the client among all clients, which lets it keep its tool names when it reconnects.
    let order: Int
    /// A number that distinguishes this registration from earlier ones of the same client; later ones have
    /// greater numbers.
    var serial: Int
    var tools: [ClientToolDefinition]
    /// The instructions of the client's own server.
    var instructions: String?
    /// The connection on which the client is the server. Nil while it is disconnected, and for the façade.
    var link: ProviderLink?
    /// The time since which it is gone: its connection has ended, or there is no listener to the façade's
    /// events.
    var lostAt: MonotonicInstant?
    /// Whether it has been gone for so long that its tools are not listed.
    var isHidden = false
    var callsInFlight = 0
    /// The next time at which the client is asked whether it is still there.
    var nextProbe = MonotonicInstant.never
    /// The time by which it must have responded.
    var probeEnd = MonotonicInstant.never

    var isFacade: Bool { client.isEmpty }
    /// The name that people and models see.
    var displayName: String { isFacade ? "without a name" : client }
    var isUp: Bool { lostAt == nil }
}
