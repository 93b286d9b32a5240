import MCPCore

/// `lock` and `verify`: write the definitions of a server to a file, and compare the server with it.
struct LockCommands {
    let session: Session
    private var console: Console { session.console }
    private var path: String {
        ConfigPlace.absolute(
            session.options.checks.lockFile ?? LockFile.name, in: session.environment.currentDirectory)
    }
    private var shownPath: String { inlineText(session.options.checks.lockFile ?? LockFile.name) }

    func lock() async throws(Failure) -> ExitCode {
        let name = LockFile.serverName(session.invocation)
        let snapshot = try await ServerSnapshot.read(session)
        guard snapshot.allUnreadable.isEmpty else {
            throw .malformed(
                "\(inlineText(name)) cannot be locked: some of what it offers cannot be read",
                details: snapshot.allUnreadable.prefix(6) + ["\(shownPath) was not changed"])
        }
        let lock = ChangeLock(path, shownAs: shownPath, session.environment.variable)
        let before = try lock.hold { () throws(Failure) in try replace(name, snapshot) }
        let changes = before.map { SnapshotComparison.changes(from: $0, to: snapshot) }
        if console.isJSON {
            let list = JSONValue.array((changes ?? []).map(\.json))
            console.json(RawJSON(["server": .string(name), "changes": list]))
            return .ok
        }
        for change in changes ?? [] { console.line(Self.line(change, console.style)) }
        let counts = ServerSnapshot.Kind.allCases.compactMap { kind -> String? in
            guard let count = snapshot.definitions[kind]?.count, count > 0 else { return nil }
            return "\(count) \(kind.noun)\(count == 1 ? "" : "s")"
        }
        let what = counts.isEmpty ? "nothing" : counts.joined(separator: ", ")
        console.note("\(inlineText(name)): \(what) in \(shownPath)")
        return .ok
    }

    /// Writes the definitions of a server; returns those that the file had.
    private func replace(_ name: String, _ snapshot: ServerSnapshot) throws(Failure) -> ServerSnapshot? {
        var file = try LockFile(at: path) ?? LockFile()
        let before = file[name]
        file[name] = snapshot
        let bytes = file.bytes
        guard bytes.count <= LockFile.maxBytes else {
            throw .malformed("the definitions do not fit into a lock file")
        }
        do throws(IOError) { try Files.replace(path, with: bytes, mode: 0o644) } catch {
            throw Failure(
                code: .unreachable, kind: .output, message: "cannot write \(shownPath): \(error.reason)",
                details: ["the file was not changed"])
        }
        return before
    }

    func verify() async throws(Failure) -> ExitCode {
        let locked = try LockedServer(session.invocation, in: session.environment.currentDirectory)
        let snapshot = try await ServerSnapshot.read(session)
        let changes = SnapshotComparison.changes(from: locked.snapshot, to: snapshot)
        Self.show(changes, console)
        if changes.isEmpty {
            let version = snapshot.server.map { " · " + inlineText($0) } ?? ""
            if !console.isJSON { console.note("\(inlineText(locked.name)) is as in \(shownPath)\(version)") }
            return .ok
        }
        return .checkFailed
    }

    /// Prints differences: a line for each, or one JSON object.
    static func show(_ changes: [SnapshotChange], _ console: Console) {
        if console.isJSON {
            console.json(RawJSON(["changes": .array(changes.map(\.json))]))
        } else {
            for change in changes { console.line(line(change, console.style)) }
        }
    }

    private static func line(_ change: SnapshotChange, _ style: Style) -> String {
        let label = change.weight.rawValue
        let padded = label + String(repeating: " ", count: 12 - label.count)
        switch change.weight {
        case .breaking: return style.red(padded) + change.line
        case .risky: return style.bold(padded) + change.line
        case .compatible: return style.green(padded) + change.line
        }
    }
}
