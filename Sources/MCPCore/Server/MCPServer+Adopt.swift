extension MCPServer {
    /// Takes over everything that another server offers, at once, in place of what it offered itself.
    ///
    /// For programs that build a new server when their configuration changes: calls in flight go on with what
    /// they started with, and subscribers are told which lists changed. Instructions come along; name,
    /// version and options stay.
    public func adopt(_ other: MCPServer) {
        let contents = other.dispatcher.registry.draft
        // What is registered elsewhere has been checked there.
        try? update(isReplacement: true) { $0 = contents }
    }
}
