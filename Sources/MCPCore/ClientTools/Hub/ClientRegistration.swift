/// One client of a channel, with its tools and the way to it.
struct ClientRegistration: Sendable {
    /// Its name; empty for the façade, whose clients have none.
    let client: String
    /// The place of the client among all: it keeps its names when it comes back.
    let order: Int
    /// Tells this registration from earlier ones of the same client; later ones have greater numbers.
    var serial: Int
    var tools: [ClientToolDefinition]
    /// The connection on which it is the server. Nil while it is gone, and for the façade.
    var link: ProviderLink?
    /// Since when it is gone: its connection has ended, or nobody listens to the façade's events.
    var lostAt: MonotonicInstant?
    /// It is gone for so long that its tools are not listed.
    var isHidden = false
    var callsInFlight = 0

    var isFacade: Bool { client.isEmpty }
    /// What people and models read.
    var displayName: String { isFacade ? "without a name" : client }
    var isUp: Bool { lostAt == nil }
}
