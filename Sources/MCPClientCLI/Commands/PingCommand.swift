import MCPCore

/// `ping`: one round trip on the open connection.
struct PingCommand {
    let session: Session

    func run() async throws(Failure) {
        let method = session.client.protocolVersion.isModern ? "server/discover" : "ping"
        let start = ContinuousClock.now
        _ = try await session.request(method)
        let time = ContinuousClock.now - start
        if session.options.json {
            let milliseconds = JSONValue(TimeSpan.milliseconds(time))
            session.console.json(RawJSON(["method": .string(method), "milliseconds": milliseconds]))
        } else {
            session.console.line(TimeSpan.text(time))
            session.console.note(session.console.noteStyle.dim("\(method) · \(session.identity)"))
        }
    }
}
