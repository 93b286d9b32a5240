import MCPCore

/// Proposes words for the cursor's place on a command line.
///
/// It never asks, never opens a browser, never renews a login, and starts only programs of servers that the
/// user has configured or allowed. What goes wrong leads to no proposals.
struct Completer: Sendable {
    /// The longest time until the shell gets an answer.
    static let limit = Duration.seconds(1)

    let commands: [Command]
    let environment: CommandEnvironment
    /// Parses a command line.
    let parse: @Sendable ([String]) throws(Failure) -> Invocation

    /// Passes the proposals to `print`, and then closes the connection to the server if there is one.
    func complete(_ line: ShellLine, print: ([Candidate]) -> Void) async {
        let prefix = CommandPrefix(line.words, commands: commands)
        let server = CompletionServer(environment: environment, parse: parse, prefix: prefix)
        print(await candidates(prefix, line.current, server))
        await server.close()
    }

    /// Returns the proposals for a line in a shell of ours, whose connection is open.
    func candidates(_ line: ShellLine, _ server: CompletionServer) async -> [Candidate] {
        let prefix = CommandPrefix(line.words, commands: commands)
        return await candidates(prefix, line.current, server).filter {
            $0.value.hasPrefix(line.current) && $0.isHarmless
        }
    }

    private func candidates(
        _ prefix: CommandPrefix, _ current: String, _ server: CompletionServer
    ) async -> [Candidate] {
        if prefix.isUnknown { return [] }
        if prefix.isProgram { return FileCandidates(environment).files(current) }
        if let flag = prefix.pending { return await words(flag.row.kind, current, prefix, server) }
        if prefix.takesArguments {
            let arguments = ArgumentCandidates(prefix: prefix, server: server, environment: environment)
            return await arguments.candidates(current)
        }
        if current.hasPrefix("-") { return await flags(prefix, current, server) }
        guard prefix.command != nil else {
            return commands.map { Candidate(value: $0.name, note: $0.summary) }
        }
        guard let kind = prefix.kind else { return [] }
        return await words(kind, current, prefix, server)
    }

    private func flags(
        _ prefix: CommandPrefix, _ current: String, _ server: CompletionServer
    ) async -> [Candidate] {
        if current.hasPrefix("--"), let sign = current.firstIndex(of: "=") {
            guard let flag = Flag.named(String(current[..<sign])), flag.row.value != nil else { return [] }
            let value = String(current[current.index(after: sign)...])
            let head = String(current[...sign])
            return await words(flag.row.kind, value, prefix, server).map { candidate in
                Candidate(value: head + candidate.value, note: candidate.note, isPartial: candidate.isPartial)
            }
        }
        let known = Flag.allCases.filter { prefix.command?.knows($0) ?? true }
        let isLong = current.hasPrefix("--")
        return known.flatMap { flag in
            flag.row.names.filter { isLong ? $0.hasPrefix("--") : true }.map { name in
                Candidate(value: name, note: prefix.command?.meaning(of: flag) ?? flag.row.summary)
            }
        }
    }

    private func words(
        _ kind: WordKind, _ current: String, _ prefix: CommandPrefix, _ server: CompletionServer
    ) async -> [Candidate] {
        switch kind {
        case .text: return []
        case .file: return FileCandidates(environment).files(current)
        case .directory: return FileCandidates(environment).files(current, onlyDirectories: true)
        case .variable: return environment.allVariables().keys.sorted().map { Candidate(value: $0) }
        case .choices(let words): return words.map { Candidate(value: $0) }
        case .server: return servers()
        case .command: return commands.map { Candidate(value: $0.name, note: $0.summary) }
        case .tool: return Self.operands(await server.tools())
        case .prompt: return Self.operands(await server.prompts())
        case .resource: return Self.operands(await server.resources(current))
        case .completionSubject: return Self.operands(await server.completionSubjects())
        case .completionArgument:
            return Self.operands(await server.completionArguments(of: prefix.subject ?? ""))
        case .completionValue:
            return Self.operands(
                await server.values(
                    of: prefix.operands.last ?? "", in: prefix.subject ?? "", current: current))
        }
    }

    /// Leaves out words of a server that would be flags of ours.
    private static func operands(_ candidates: [Candidate]) -> [Candidate] {
        candidates.filter { !$0.value.hasPrefix("-") }
    }

    private func servers() -> [Candidate] {
        let catalog = ServerCatalog(environment)
        return catalog.names.compactMap { name in
            // A name that would be an address or a file is not proposed.
            guard let entry = catalog.entries.first(where: { $0.name == name && !$0.isDisabled }),
                entry.hasUsableName
            else { return nil }
            return Candidate(value: name, note: entry.place.shown(in: environment))
        }
    }
}
