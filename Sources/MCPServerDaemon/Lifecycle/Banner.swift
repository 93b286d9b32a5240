/// The two lines on standard error that state what is running, and where.
struct Banner: Sendable {
    var server: ServerSettings
    var contents: ServedContents
    var isStdio: Bool
    var addresses: [ConfiguredAddress]
    var startup: Duration

    var lines: [String] {
        [
            "mcp-server \(DaemonVersion.current) · \(server.shortName) \(server.version) · "
                + contents.description,
            place + "     ready in \(milliseconds) ms",
        ]
    }

    private var place: String {
        let places = (isStdio ? ["stdio"] : []) + addresses.map(\.shown)
        return (isStdio ? "serving    " : "listening  ") + places.joined(separator: "   ")
    }

    private var milliseconds: Int64 {
        let (seconds, attoseconds) = startup.components
        return seconds &* 1_000 &+ attoseconds / 1_000_000_000_000_000
    }
}
