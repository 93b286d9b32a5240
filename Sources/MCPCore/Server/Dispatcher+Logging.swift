/// Log levels: `logging/setLevel` of the handshake revisions (2025-11-25 server/utilities/logging), and the
/// level that a 2026-07-28 request carries.
extension Dispatcher {
    func setLevel(_ request: Request, _ writer: inout JSONWriter) -> Disposition {
        guard let level = request.message.params?["level"]?.string.flatMap(LoggingLevel.init(rawValue:))
        else {
            return fail(request, Self.unknownLevel, &writer)
        }
        subscriptions.sessions.set(level, for: request.channelID)
        return pong(request, &writer)
    }

    /// Returns the error for a request whose log level does not exist (LOG-05), or nil when the level exists.
    func badLogLevel(_ message: Message) -> MCPError? {
        let name = message.raw(message.head.metaLogLevel)?.string
        return name.flatMap(LoggingLevel.init(rawValue:)) == nil ? Self.unknownLevel : nil
    }

    private static var unknownLevel: MCPError {
        let names = LoggingLevel.allCases.map(\.rawValue).joined(separator: ", ")
        return .invalidParams("Unknown log level; the levels are \(names)")
    }
}
