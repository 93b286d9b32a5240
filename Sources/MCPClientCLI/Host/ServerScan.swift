import MCPCore

/// A search for MCP servers on this machine, on all ports of a range at once.
enum ServerScan {
    /// The time allowed for one port.
    static let patience = Duration.seconds(2)

    static func run(_ ports: ClosedRange<UInt16>, _ options: ClientOptions) async -> [String] {
        var options = options
        options.connectTimeout = patience
        options.timeout = patience
        options.headers = []
        let asked = options
        return await withTaskGroup(of: (UInt16, Bool).self) { group in
            for port in ports {
                group.addTask {
                    guard let client = try? await MCPClient.connect(.http(url(port)), options: asked) else {
                        return (port, false)
                    }
                    await client.close()
                    return (port, true)
                }
            }
            var found: [UInt16] = []
            for await (port, isThere) in group where isThere { found.append(port) }
            return found.sorted().map(url)
        }
    }

    private static func url(_ port: UInt16) -> String { "http://127.0.0.1:\(port)/mcp" }
}
