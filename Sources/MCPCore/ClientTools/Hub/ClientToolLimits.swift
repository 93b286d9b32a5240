/// The limits for clients that offer tools; each limit has one documented outcome.
enum ClientToolLimits {
    /// Channels of one hub: 1,000. When all of them have tools or agents, no further one is created (404).
    static let channels = 1_000
    /// The channels among them that only callers without a token use, agents and clients of the façade: 750.
    /// The rest is for callers with a token.
    static let openChannels = 750
    /// Tools of one client: 64. A registration with more is refused as a whole.
    static let toolsPerClient = 64
    /// Tools of clients in one channel: 256. Further ones are not listed.
    static let toolsPerChannel = 256
    /// Clients in one channel: 64. Further ones are refused.
    static let clientsPerChannel = 64
    /// The input schema, and the output schema, of one tool: 64 KiB. A larger one makes the tool invalid.
    static let schemaBytes = 64 << 10
    /// Steps of one check against such a schema: 1,000,000, and 8 for each byte of the value. A check runs on
    /// a thread that also serves others, and these schemas come from programs.
    static let schemaWork = 1_000_000
    /// A description, and instructions: 4 KiB each. Longer texts are truncated.
    static let textBytes = 4 << 10
    /// All instructions of a channel: 16 KiB. Those of further tools are omitted.
    static let instructionBytes = 16 << 10
    /// Names of channels and clients: 128 bytes. Longer ones are refused.
    static let nameBytes = 128
    /// A result: 10 MB. A larger one is an error for the agent.
    static let resultBytes = 10_000_000
    /// Pending calls of one client: 256. A further one is an error for the agent.
    static let callsPerClient = 256
    /// The timeout that a tool may request: 10 minutes. A longer one is reduced to it.
    static let longestCall = Duration.seconds(600)
    /// A client on an event stream is asked every 20 s whether it is still there. Without a response within
    /// 20 s its connection ends, unless it is working on a call.
    static let probeInterval = Duration.seconds(20)
    static let probeTimeout = Duration.seconds(20)
    /// Silence of a daemon on such a stream: 75 s. After that the client connects again.
    static let longestSilence = Duration.seconds(75)
    /// Registrations of one channel within a minute: 60. A further one is refused (429).
    static let registrationsPerMinute = 60
    /// Listing the tools of one client, with all pages: 30 s. After that the registration is refused, and a
    /// change is not taken over.
    static let listTimeout = Duration.seconds(30)
    /// The pause between two readings of a client's list that changes: 250 ms. Changes in between are read
    /// together.
    static let changePause = Duration.milliseconds(250)
    /// Events kept for listeners that reconnect: 256, or 1 MiB.
    static let keptEvents = 256
    static let keptEventBytes = 1 << 20
    /// Events that wait for one listener: 1,024. A further one ends its stream.
    static let waitingEvents = 1_024
    /// Listeners of one channel: 64. A further one is refused (429).
    static let listenersPerChannel = 64

    static let schemas = SchemaOptions(limits: SchemaLimits(maxWork: schemaWork))
}
