import MCPCore

/// A parser of command lines that uses the tables of commands and flags. Nothing here looks at the
/// environment.
struct InvocationParser {
    private var options = Options()
    private var command: Command?
    private var words: [String] = []
    private var arguments: [String] = []
    private let hasProgram: Bool
    private let commands: [Command]

    /// The first word of the command lines that the scripts of `completion` run.
    static let completionWord = "__complete"

    /// Parses a command line.
    ///
    /// - Parameters:
    ///   - arguments: the arguments without the name of the program.
    ///   - commands: the commands that may be used.
    static func parse(
        _ arguments: [String], commands: [Command] = Command.all
    ) throws(Failure) -> CommandLineRequest {
        if arguments.first == Self.completionWord {
            return .complete(CompletionRequest(Array(arguments.dropFirst())))
        }
        let dashes = arguments.firstIndex(of: "--")
        let head = Array(arguments[..<(dashes ?? arguments.count)])
        let program = dashes.map { Array(arguments[($0 + 1)...]) }
        if let program, program.first?.isEmpty ?? true {
            throw .usage("a program must follow --", hint: "mcp-client tools -- PROGRAM ARGS")
        }
        var parser = InvocationParser(hasProgram: program != nil, commands: commands)
        try parser.readHead(head)
        return try parser.finish(program)
    }

    private init(hasProgram: Bool, commands: [Command]) {
        (self.hasProgram, self.commands) = (hasProgram, commands)
    }

    /// The number of words after COMMAND that belong to this program; nil when its flags may appear anywhere.
    private var flagsEndAfter: Int? {
        guard let command, command.takesArguments else { return nil }
        return command.operands.count + (hasProgram ? 0 : 1)
    }

    private mutating func readHead(_ head: [String]) throws(Failure) {
        var index = 0
        while index < head.count {
            let word = head[index]
            index += 1
            if let end = flagsEndAfter, words.count >= end {
                try readAfterTool(word, head, &index)
            } else if word.hasPrefix("-"), word != "-" {
                try readFlag(word, head, &index)
            } else if command == nil {
                command = try Command.find(word, among: commands)
            } else {
                words.append(word)
            }
        }
    }

    /// Reads a word after the tool name. It belongs to the tool, unless it is a short flag, which no
    /// argument of a tool looks like. After `--name`, it may be the value of that.
    private mutating func readAfterTool(
        _ word: String, _ head: [String], _ index: inout Int
    ) throws(Failure) {
        let isValue = arguments.last.map { $0.hasPrefix("--") && !$0.contains("=") } ?? false
        guard word.hasPrefix("-"), !word.hasPrefix("--"), !word.contains("="), !isValue,
            let flag = Flag.named(word) ?? Flag.named(String(word.prefix(2)))
        else {
            return arguments.append(word)
        }
        if flag == .other(.help) { return arguments.append("--help") }
        try readFlag(word, head, &index)
    }

    private mutating func readFlag(_ word: String, _ head: [String], _ index: inout Int) throws(Failure) {
        if let flag = Flag.named(word) {
            guard flag.row.value != nil else { return try options.apply(flag, "") }
            guard index < head.count else {
                throw .usage("\(word) needs a value", hint: "\(word) \(flag.row.value ?? "")")
            }
            let value = head[index]
            index += 1
            return try options.apply(flag, value)
        }
        if word.hasPrefix("--"), let sign = word.firstIndex(of: "=") {
            let name = String(word[..<sign])
            guard let flag = Flag.named(name) else { throw unknownFlag(name) }
            guard flag.row.value != nil else { throw .usage("\(name) takes no value") }
            return try options.apply(flag, String(word[word.index(after: sign)...]))
        }
        // -oFILE, -HName:value: a short flag and its value in one word.
        if !word.hasPrefix("--"), word.count > 2, let flag = Flag.named(String(word.prefix(2))),
            flag.row.value != nil
        {
            return try options.apply(flag, String(word.dropFirst(2)))
        }
        throw unknownFlag(word)
    }

    private func finish(_ program: [String]?) throws(Failure) -> CommandLineRequest {
        if options.help { return .help(command) }
        if options.version {
            return .run(Invocation(command: .version, options: options, target: nil))
        }
        guard let command else {
            var failure = Failure.usage("no command", hint: "mcp-client --help lists the commands")
            failure.usage = "usage: mcp-client [FLAGS] COMMAND TARGET [OPERANDS]"
            throw failure
        }
        for flag in options.given where !command.knows(flag) {
            throw .usage(
                "\(flag.name) does not apply to \(command.name)\(command.isInShell ? " in the shell" : "")",
                hint: Self.configHint(flag, options, command) ?? "\(command.helpLine) lists its flags")
        }
        var invocation = Invocation(command: command, options: options, target: nil, arguments: arguments)
        invocation.operands = words
        if command.targets == .one {
            if let program {
                invocation.target = .program(program)
            } else {
                guard let text = words.first else { throw command.missing(["TARGET"]) }
                try checkCount(Array(words.dropFirst()), command)
                if Target.mayBeConfigured(text) {
                    invocation.serverName = text
                } else {
                    invocation.target = try Target(parsing: text)
                }
                invocation.targetText = text
                invocation.operands.removeFirst()
            }
        } else if command.targets == .several {
            try takeServers(program, &invocation)
        } else if command.takesProgram {
            invocation.program = program
        } else if program != nil {
            throw .usage("\(command.name) needs no server")
        }
        if command.isInShell, let word = words.first, Target.isAddress(word),
            command.operands.first?.name != "URI"
        {
            throw unexpectedTarget(word, command)
        }
        try checkCount(invocation.operands, command)
        try checkCombination(invocation)
        return .run(invocation)
    }

    /// Collects the servers.
    ///
    /// The operands before TARGET stay; the others are servers, as are those of `--server` and the program.
    private func takeServers(_ program: [String]?, _ invocation: inout Invocation) throws(Failure) {
        let own = invocation.command.operands.count { $0.count == .one }
        if own > 0, let first = words.first, Target.isAddress(first) {
            let name = invocation.command.operands.first?.name ?? ""
            let line =
                ["mcp-client", invocation.command.name, name] + MaskedText.words(words).map(ShellWord.quote)
            throw .usage(
                "\(quoted(MaskedText.words([first]).joined())) is an address, but \(name) comes first",
                hint: line.joined(separator: " "))
        }
        invocation.operands = Array(words.prefix(own))
        var servers = options.agent.servers
        var targets: [Target] = []
        for text in words.dropFirst(own) {
            if Target.mayBeConfigured(text) {
                invocation.serverNames.append(ConfiguredName(word: text))
            } else {
                targets.append(try Target(parsing: text))
            }
        }
        if let program { targets.append(.program(program)) }
        for (index, target) in targets.enumerated() {
            servers.append(NamedTarget(name: "server\(index + 1)", target: target))
        }
        invocation.serverNames += options.agent.configured
        let names = servers.map(\.name) + invocation.serverNames.map { $0.name ?? $0.word }
        for (index, name) in names.enumerated() where names[..<index].contains(name) {
            throw .usage("two servers are named \(quoted(name))")
        }
        // The name of the only configured server is not known yet.
        for name in options.agent.trusted where !names.contains(name) && !names.contains(".") {
            let known = names.map { inlineText($0) }.joined(separator: ", ")
            throw .usage(
                "--trust \(inlineText(name)): no server has this name",
                details: [names.isEmpty ? "no server is given" : "servers: \(known)"],
                hint:
                    "NAME is a configured name or one of --server; others are server1, server2, …"
            )
        }
        // A token is for one server: no other server may see it.
        let secrets = options.given.filter {
            [
                .transport(.header), .transport(.bearerEnv), .transport(.bearerFile),
                .auth(.clientSecretEnv), .auth(.clientSecretFile), .auth(.clientKey), .auth(.assertionFile),
            ].contains($0)
        }
        let isRemote = servers.filter { if case .program = $0.target { false } else { true } }
        let remotes = isRemote.count + invocation.serverNames.count
        if let flag = secrets.first, remotes != 1 {
            throw .usage("\(flag.name) needs exactly one HTTP server, but there are \(remotes)")
        }
        invocation.servers = servers
    }

    private func checkCount(_ operands: [String], _ command: Command) throws(Failure) {
        let grammar = command.operands
        let required = grammar.filter { [.one, .oneOrMore].contains($0.count) }
        if operands.count < required.count {
            throw command.missing(required[operands.count...].map(\.name))
        }
        let isOpen = [.oneOrMore, .zeroOrMore].contains(grammar.last?.count)
        if !isOpen, operands.count > grammar.count {
            throw unexpectedTarget(operands[grammar.count], command)
        }
    }

    /// Returns the failure for a word that has no place, which in a shell is often TARGET.
    private func unexpectedTarget(_ word: String, _ command: Command) -> Failure {
        .usage(
            "unexpected argument \(quoted(word))",
            details: command.isInShell ? ["the shell is connected to its server; leave TARGET out"] : [],
            hint: "usage: \((command.takesProgram ? command.programUsage : nil) ?? command.usage)")
    }

    /// Returns how a command other than `host` uses the servers of a file.
    private static func configHint(_ flag: Flag, _ options: Options, _ command: Command) -> String? {
        guard flag == .host(.config), let file = options.host.configFile, command.targets == .one else {
            return nil
        }
        return "MCP_CONFIG=\(inlineText(ShellWord.quote(file))) mcp-client \(command.name) NAME uses the "
            + "servers of that file"
    }

    /// Checks for flags that cannot be combined, or that mean nothing for this kind of target.
    private func checkCombination(_ invocation: Invocation) throws(Failure) {
        let shapes = options.given.filter {
            [.output(.json), .output(.raw), .output(.structured)].contains($0)
        }
        if let first = shapes.first, let other = shapes.first(where: { $0 != first }) {
            throw .usage("\(first.name) and \(other.name) cannot be combined")
        }
        if options.raw, options.select != nil { throw .usage("--raw and --select cannot be combined") }
        if options.bearerEnv != nil, options.bearerFile != nil {
            throw .usage("--bearer-env and --bearer-file cannot be combined")
        }
        try InvocationCheck.transport(invocation)
    }

    /// Returns a hint for the flag of a program that stands where TARGET is expected.
    private func programHint(_ word: String) -> String? {
        guard let command, command.targets == .one, !hasProgram, !command.isForHTTP,
            let program = words.first, words.count == 1, Target.isName(program), program != "."
        else { return nil }
        let best = Suggestion.best(for: word, among: Flag.allCases.flatMap(\.row.names))
        if best != nil { return nil }
        let line = [command.name] + command.operands.filter { $0.count == .one }.map(\.name) + ["--"]
        return "if \(inlineText(program)) is a program: mcp-client \(line.joined(separator: " ")) "
            + "\(ShellWord.quote(program)) \(inlineText(word))"
    }

    private func unknownFlag(_ word: String) -> Failure {
        if let hint = programHint(word) { return .usage("\(quoted(word)) is not a flag", hint: hint) }
        let known = Flag.allCases.filter { command?.knows($0) ?? true }
        let names = known.flatMap(\.row.names).filter { $0.hasPrefix("--") }
        let best = Suggestion.best(for: word, among: names)
        return .usage(
            "\(quoted(word)) is not a flag", details: best.map { ["did you mean \($0)?"] } ?? [],
            hint: "\(command?.helpLine ?? "mcp-client help --all") lists the flags")
    }
}
