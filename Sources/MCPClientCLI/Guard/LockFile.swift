import MCPCore

/// `mcp.lock`: the definitions of servers that somebody has reviewed.
///
/// The file is JSON with sorted members and LF line ends, so that a review shows what changed. It holds full
/// definitions, because a digest shows that something changed, and not what.
struct LockFile: Sendable {
    static let name = CheckOptions.defaultLockFile
    /// The largest size of the file.
    static let maxBytes = 16 << 20
    private static let version = 1

    private var servers: JSONObject = [:]

    init() {}

    /// Reads the file; nil if there is none.
    init?(at path: String) throws(Failure) {
        let bytes: [UInt8]
        do throws(IOError) { bytes = try Files.read(path, maxBytes: Self.maxBytes) } catch {
            if error.isMissingFile { return nil }
            throw .usage("cannot read \(inlineText(path)): \(SystemFile.reason(error, path))")
        }
        try self.init(bytes, name: inlineText(path))
    }

    init(_ bytes: [UInt8], name: String) throws(Failure) {
        let json: JSONValue
        do throws(JSONError) { json = try JSONValue(parsing: bytes) } catch {
            throw .usage(
                "\(name) is not a lock file: \(inlineText("\(error)"))",
                hint: "restore it, or remove it and run mcp-client lock TARGET")
        }
        guard json["lockVersion"]?.intValue == Self.version, let servers = json["servers"]?.objectValue else {
            throw .usage(
                "\(name) is not a lock file of version \(Self.version)",
                hint: "mcp-client lock TARGET writes one; a newer file needs a newer mcp-client")
        }
        self.servers = servers
    }

    var names: [String] { servers.keys.sorted() }

    subscript(name: String) -> ServerSnapshot? {
        get { servers[name].map(Self.snapshot) }
        set { servers[name] = newValue.map(Self.json) }
    }

    var bytes: [UInt8] {
        let file: JSONValue = [
            "lockVersion": JSONValue(Self.version),
            "servers": .object(servers),
        ]
        return Array((ServerSnapshot.sortedKeys(file).serialized(pretty: true) + "\n").utf8)
    }

    private static func json(_ snapshot: ServerSnapshot) -> JSONValue {
        var object: JSONObject = [:]
        if let server = snapshot.server { object["server"] = .string(server) }
        if let instructions = snapshot.instructions { object["instructions"] = .string(instructions) }
        for (kind, definitions) in snapshot.definitions {
            object[kind.rawValue] = .object(definitions)
        }
        return .object(object)
    }

    private static func snapshot(_ json: JSONValue) -> ServerSnapshot {
        var snapshot = ServerSnapshot()
        snapshot.server = json["server"]?.stringValue
        snapshot.instructions = json["instructions"]?.stringValue
        for kind in ServerSnapshot.Kind.allCases {
            // A lock file without a list locks an empty one.
            guard let members = json[kind.rawValue]?.objectValue else {
                if kind != .resources { snapshot.definitions[kind] = [:] }
                continue
            }
            var definitions: JSONObject = [:]
            for (name, definition) in members { definitions[name] = ServerSnapshot.sortedKeys(definition) }
            snapshot.definitions[kind] = definitions
        }
        return snapshot
    }

    /// Returns the name under which a server is locked: that of its configuration, or its address or command
    /// line without what may be secret.
    static func serverName(_ invocation: Invocation) -> String {
        if let name = invocation.configuredName { return name }
        switch invocation.target {
        case .http(let url): return MaskedText.url(url)
        case .unix(let path, let endpoint): return "unix://\(path)#\(endpoint)"
        case .program(let words): return MaskedEntry.line(of: words)
        case .recording(let path): return path
        case nil: return ""
        }
    }
}

/// The lock file of a command, and the server in it.
struct LockedServer: Sendable {
    private let invocation: Invocation
    let path: String
    let name: String
    let snapshot: ServerSnapshot
    /// Whether tools were called before, so that a refusal says another thing.
    var isInUse = false

    /// The command line that writes the lock file, or another one about it, for hints.
    private static func lockLine(_ invocation: Invocation, _ command: String = "lock") -> String {
        let file = invocation.options.checks.lockFile.map { ["--lock-file", ShellWord.quote($0)] }
        return invocation.line(command, file ?? [])
    }

    /// Finds the server of an invocation in its lock file.
    ///
    /// - Throws: when there is no such file, or it does not contain the server: nothing is trusted then.
    init(_ invocation: Invocation, in directory: String) throws(Failure) {
        self.invocation = invocation
        let file = invocation.options.checks.lockFile ?? LockFile.name
        path = ConfigPlace.absolute(file, in: directory)
        name = LockFile.serverName(invocation)
        guard let lock = try LockFile(at: path) else {
            throw Failure(
                code: .checkFailed, kind: .locked,
                message: "the lock file \(inlineText(file)) does not exist",
                details: ["nothing was sent"], hint: Self.lockLine(invocation) + " writes it")
        }
        guard let snapshot = lock[name] else {
            throw Failure(
                code: .checkFailed, kind: .locked,
                message: "\(inlineText(file)) does not contain \(quoted(name))",
                details: [
                    "it contains: " + lock.names.prefix(8).map { inlineText($0) }.joined(separator: ", ")
                ],
                hint: Self.lockLine(invocation) + " adds it")
        }
        self.snapshot = snapshot
    }

    /// Refuses a definition that differs from the locked one.
    func check(_ kind: ServerSnapshot.Kind, _ name: String, _ definition: JSONValue) throws(Failure) {
        guard let locked = snapshot[kind, name] else {
            throw failure("the \(kind.noun) \(quoted(name)) is not in the lock file", [])
        }
        let sorted = ServerSnapshot.sortedKeys(definition)
        guard locked != sorted else { return }
        let changes = SnapshotComparison.changes(of: kind, name, from: locked, to: sorted)
        throw failure("the \(kind.noun) \(quoted(name)) differs from the lock file", changes.map(\.text))
    }

    /// Returns the tools of a server; refuses it if any of them, or what it tells a model about them, differs
    /// from the lock file.
    func tools(_ session: Session) async throws(Failure) -> [Tool] {
        guard session.client.instructions == snapshot.instructions else {
            throw failure("the instructions of \(quoted(name)) differ from the lock file", [])
        }
        guard session.client.serverCapabilities.hasTools else { return [] }
        let method = ServerSnapshot.Kind.tools.method
        var tools: [Tool] = []
        try await session.pages(method) { page throws(Failure) in
            for element in try session.elements(page, ServerSnapshot.Kind.tools.rawValue, method: method) {
                try check(.tools, element["name"]?.string ?? "", element.value)
                if let tool = session.entry(Tool.self, "tool", element) { tools.append(tool) }
            }
            return true
        }
        try checkOmissions(session)
        return tools
    }

    /// Refuses a server if an entry of its tools could not be read: it may have the name of a locked one.
    func checkOmissions(_ session: Session) throws(Failure) {
        let omitted = session.omissions.texts(of: ServerSnapshot.Kind.tools.method)
        guard omitted.isEmpty else {
            throw failure("some of what \(quoted(name)) offers cannot be read", omitted)
        }
    }

    func failure(_ message: String, _ details: [String]) -> Failure {
        Failure(
            code: .checkFailed, kind: .locked,
            message: "\(message) (\(isInUse ? "nothing more is called" : "nothing was called"))",
            details: Array(details.prefix(12)),
            hint: "review the change; \(Self.lockLine(invocation)) accepts it, and "
                + "\(Self.lockLine(invocation, "verify")) shows all changes")
    }
}
