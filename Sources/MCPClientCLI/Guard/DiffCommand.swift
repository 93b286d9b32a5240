import MCPCore

/// `diff`: compares what two servers, recordings or lock files offer.
struct DiffCommand {
    let context: CommandContext

    func run() async throws(Failure) -> ExitCode {
        let invocation = context.invocation
        let words = invocation.operands
        guard words.count + (invocation.program == nil ? 0 : 1) == 2 else {
            throw .usage("diff needs two servers", hint: "usage: \(invocation.command.usage)")
        }
        if invocation.options.hasCredentials || !invocation.options.headers.isEmpty {
            let remote = words.filter { !$0.hasSuffix(".lock") && !Target.isFile($0) }
            if remote.count > 1 {
                throw .usage(
                    "header fields and tokens are for one server, but there are two",
                    hint: "configure the servers by name, or compare with a lock file")
            }
        }
        let old = try await snapshot(words[0])
        let new = try await snapshot(words.count > 1 ? words[1] : nil)
        let changes = SnapshotComparison.changes(from: old, to: new)
        LockCommands.show(changes, context.console)
        let unknown = ServerSnapshot.Kind.allCases.filter { kind in
            let isKnown = [old, new].map { $0.definitions[kind] != nil }
            // Neither lock files nor this command ask for resources.
            return isKnown.contains(false) && (kind != .resources || isKnown.contains(true))
        }
        let isCompared = ServerSnapshot.Kind.allCases.contains { kind in
            [old, new].allSatisfy { $0.definitions[kind] != nil }
        }
        if changes.isEmpty, !isCompared {
            throw Failure(
                code: .checkFailed, kind: .notFound, message: "nothing was compared",
                hint: "no list is in both: record a conversation in which the client lists tools")
        }
        if !unknown.isEmpty {
            let names = unknown.map { "\($0.noun)s" }.joined(separator: ", ")
            context.console.note("not compared, because a side has no list of them: \(names)")
        }
        if changes.isEmpty, !context.console.isJSON { context.console.note("no difference") }
        return changes.isEmpty ? .ok : .checkFailed
    }

    private func snapshot(_ word: String?) async throws(Failure) -> ServerSnapshot {
        if let word, let lock = try locked(word) { return lock }
        var result: ServerSnapshot?
        _ = try await context.withServer(word) { session throws(Failure) in
            result = try await ServerSnapshot.read(session)
            return .ok
        }
        guard var result else { throw .malformed("the server was not read") }
        if let word, word.hasSuffix(".jsonl") {
            // A recording may lack lists that its server had.
            let lines = try context.environment.recording(word).lines
            let known = Set(lines.filter { $0.response != nil }.map(\.method))
            for kind in ServerSnapshot.Kind.allCases where !known.contains(kind.method) {
                result.definitions[kind] = nil
            }
        }
        return result
    }

    /// Returns the server of `FILE.lock` or `FILE.lock#NAME`; nil for another word.
    private func locked(_ word: String) throws(Failure) -> ServerSnapshot? {
        let parts = word.split(separator: "#", maxSplits: 1, omittingEmptySubsequences: false).map(
            String.init)
        guard let file = parts.first, file.hasSuffix(".lock") else { return nil }
        let path = ConfigPlace.absolute(file, in: context.environment.currentDirectory)
        guard let lock = try LockFile(at: path) else {
            throw .usage(
                "\(inlineText(file)) does not exist",
                hint: "mcp-client lock --lock-file \(inlineText(ShellWord.quote(file))) TARGET writes it")
        }
        let name = parts.count > 1 ? parts[1] : lock.names.count == 1 ? lock.names[0] : nil
        guard let name, let snapshot = lock[name] else {
            throw .usage(
                name.map { "\(inlineText(file)) does not contain \(quoted($0))" }
                    ?? "\(inlineText(file)) contains \(lock.names.count) servers",
                details: ["servers: " + lock.names.prefix(8).map { inlineText($0) }.joined(separator: ", ")],
                hint: "\(inlineText(file))#NAME chooses one")
        }
        return snapshot
    }
}
