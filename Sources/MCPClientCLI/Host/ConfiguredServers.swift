import MCPCore

/// Servers of a configuration file in the form that most hosts share:
/// `{"mcpServers": {"NAME": {"command": …, "args": […], "env": {…}, "cwd": …}}}`, or `"url"` and `"headers"`
/// for one over HTTP.
struct ConfiguredServers {
    struct Entry {
        let name: String
        let target: Target
        /// The environment and the directory of a program.
        var environment: [Options.EnvironmentEntry] = []
        var directory: String?
        /// Sent to this server only.
        var headers: [(String, String)] = []
    }

    let entries: [Entry]

    init(_ bytes: [UInt8], from file: String) throws(Failure) {
        let json: JSONValue
        do { json = try JSONValue(parsing: bytes) } catch {
            throw .usage(
                "\(inlineText(file)) is not JSON", details: ["\(error)"],
                hint: "JSON has no comments and no comma behind the last member")
        }
        guard let servers = json["mcpServers"]?.objectValue else {
            throw .usage(
                "\(inlineText(file)) holds no object \"mcpServers\"",
                hint: #"{"mcpServers": {"docs": {"url": "http://localhost:3000/mcp"}}}"#)
        }
        var entries: [Entry] = []
        for (name, server) in servers { entries.append(try Self.entry(name, server, file)) }
        self.entries = entries
    }

    private static func entry(_ name: String, _ json: JSONValue, _ file: String) throws(Failure) -> Entry {
        if let url = json["url"]?.stringValue {
            var entry = Entry(name: name, target: try Target(parsing: url))
            entry.headers = texts(json["headers"])
            return entry
        }
        guard let command = json["command"]?.stringValue, !command.isEmpty else {
            let typo = json.objectValue?.keys.lazy.compactMap { key in
                Suggestion.best(for: key, among: ["url", "command"]).map {
                    "did you mean \($0) for \(quoted(key))?"
                }
            }.first
            throw .usage(
                "\(inlineText(file)): the server \(quoted(name)) has neither url nor command",
                details: typo.map { [$0] } ?? [])
        }
        let arguments = json["args"]?.arrayValue ?? []
        var entry = Entry(name: name, target: .program([command] + arguments.compactMap(\.stringValue)))
        entry.environment = texts(json["env"]).map { Options.EnvironmentEntry(name: $0.0, value: $0.1) }
        entry.directory = json["cwd"]?.stringValue
        return entry
    }

    private static func texts(_ json: JSONValue?) -> [(String, String)] {
        (json?.objectValue ?? [:]).compactMap { member in member.value.stringValue.map { (member.key, $0) } }
    }
}
