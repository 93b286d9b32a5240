import MCPCore

/// The servers of a configuration file in the form that most hosts share.
///
/// The form is `{"mcpServers": {"NAME": {"command": …, "args": […], "env": {…}, "cwd": …}}}`, with `"url"`
/// and `"headers"` instead for a server over HTTP.
struct ConfiguredServers {
    struct Entry {
        let name: String
        let target: Target
        /// The environment and the directory of a program.
        var environment: [Options.EnvironmentEntry] = []
        var directory: String?
        /// The headers that are sent to this server only.
        var headers: [(String, String)] = []
    }

    let entries: [Entry]

    init(_ bytes: [UInt8], from file: String) throws(Failure) {
        let json: JSONValue
        do { json = try JSONValue(parsing: bytes) } catch {
            throw .usage(
                "\(inlineText(file)) is not JSON", details: ["\(error)"],
                hint: "JSON allows no comments and no comma after the last member")
        }
        guard let servers = json["mcpServers"]?.objectValue else {
            throw .usage(
                "\(inlineText(file)) has no object \"mcpServers\"",
                hint: #"{"mcpServers": {"docs": {"url": "http://localhost:3000/mcp"}}}"#)
        }
        var entries: [Entry] = []
        for (name, server) in servers { entries.append(try Self.entry(name, server, file)) }
        self.entries = entries
    }

    private static func entry(_ name: String, _ json: JSONValue, _ file: String) throws(Failure) -> Entry {
        let server = ConfiguredServer(name: name, file: file, json: json)
        try server.checkNames()
        if let url = try server.text("url") {
            var entry = Entry(name: name, target: try Target(parsing: url))
            entry.headers = try server.texts("headers")
            return entry
        }
        guard let command = try server.text("command"), !command.isEmpty else {
            throw server.failure("has neither url nor command")
        }
        var entry = Entry(name: name, target: .program([command] + (try server.list("args"))))
        entry.environment = try server.texts("env").map {
            Options.EnvironmentEntry(name: $0.0, value: $0.1)
        }
        entry.directory = try server.text("cwd")
        return entry
    }
}

/// One server of a configuration file.
///
/// A member of the wrong type is an error: a server that starts without the argument that restricts it does
/// more than was intended.
private struct ConfiguredServer {
    let name: String
    let file: String
    let json: JSONValue

    private static let names = ["url", "headers", "command", "args", "env", "cwd"]

    func failure(_ problem: String, hint: String? = nil) -> Failure {
        .usage("\(inlineText(file)): the server \(quoted(name)) \(problem)", details: hint.map { [$0] } ?? [])
    }

    /// Rejects names that are probably misspelled. Other hosts have members of their own, which are ignored.
    func checkNames() throws(Failure) {
        guard let members = json.objectValue else { throw failure("must be an object") }
        for name in members.keys where !Self.names.contains(name) {
            guard let best = Suggestion.best(for: name, among: Self.names) else { continue }
            throw failure("has an unknown member \(quoted(name))", hint: "did you mean \(best)?")
        }
    }

    func text(_ member: String) throws(Failure) -> String? {
        guard let value = json[member] else { return nil }
        guard let text = value.stringValue else { throw failure("has a \(member) that is not a string") }
        return text
    }

    func list(_ member: String) throws(Failure) -> [String] {
        guard let value = json[member] else { return [] }
        let texts = value.arrayValue?.map(\.stringValue)
        guard let texts, !texts.contains(nil) else {
            throw failure("has \(member) that are not an array of strings")
        }
        return texts.compactMap { $0 }
    }

    func texts(_ member: String) throws(Failure) -> [(String, String)] {
        guard let value = json[member] else { return [] }
        guard let members = value.objectValue else { throw failure("has \(member) that are not an object") }
        var texts: [(String, String)] = []
        for (key, value) in members {
            guard let text = value.stringValue else {
                throw failure("has \(member) whose \(quoted(key)) is not a string")
            }
            texts.append((key, text))
        }
        return texts
    }
}
