/// What clients that offer tools may use; each limit has one documented outcome.
enum ClientToolLimits {
    /// Channels of one hub: 1,000. When all have tools or agents, there is no further one (404).
    static let channels = 1_000
    /// Those among them that were made for agents without a token, and that no program registered in: 500.
    /// The rest is kept for those who show a token or register tools.
    static let openChannels = 500
    /// Tools of one client: 64. A registration of more is refused as a whole.
    static let toolsPerClient = 64
    /// Tools of clients in one channel: 256. Further ones are not listed.
    static let toolsPerChannel = 256
    /// Clients in one channel: 64. Further ones are refused.
    static let clientsPerChannel = 64
    /// The input schema, and the output schema, of one tool: 64 KiB. A larger one makes the tool invalid.
    static let schemaBytes = 64 << 10
    /// Steps of one check against such a schema: 1,000,000, and 8 for each byte of the value. A check is made
    /// on the thread that serves others too, and these schemas come from programs.
    static let schemaWork = 1_000_000
    /// A description, and instructions: 4 KiB each. The rest is cut off.
    static let textBytes = 4 << 10
    /// All instructions of a channel: 16 KiB. Further tools' are left out.
    static let instructionBytes = 16 << 10
    /// Names of channels and clients: 128 bytes. Longer ones are refused.
    static let nameBytes = 128
    /// A result: 10 MB. A larger one is an error for the agent.
    static let resultBytes = 10_000_000
    /// Calls of one client that wait for its answer: 256. One more is an error for the agent.
    static let callsPerClient = 256
    /// What a tool may ask for: 10 minutes. A longer time is cut to it.
    static let longestCall = Duration.seconds(600)
    /// Registrations of one channel within a minute: 60. One more is refused (429).
    static let registrationsPerMinute = 60
    /// Events kept for listeners that come back: 256, or 1 MiB.
    static let keptEvents = 256
    static let keptEventBytes = 1 << 20
    /// Events that wait for one listener: 1,024. One more ends its stream.
    static let waitingEvents = 1_024
    /// Listeners of one channel: 64. One more is refused (429).
    static let listenersPerChannel = 64

    static let schemas = SchemaOptions(limits: SchemaLimits(maxWork: schemaWork))
}
