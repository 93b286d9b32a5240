import MCPCore

/// Parses the arguments after the program's name.
struct CommandLineParser {
    private static let commands =
        ["run", "expose", "check", "explain", "call", "token", "schema", "version", "help"]
        + ControlFlags.commands
    private static let options =
        [
            "-c", "--config", "--demo", "--stdio", "--listen", "--set", "--log-level", "--help", "-h",
            "--version", "--man", "--core-dumps", "--client-tools", "--client-tools-auth", "--channel",
            "--providers-socket", "--online", "--allow", "--scope", "--expires", "--rate", "--json",
            "--admin", "-V", "-n", "--timeout",
        ] + SetupFile.allCases.map { "--\($0.rawValue)" }

    private static let toolCommands = ["explain", "call"]

    private var arguments: ArraySlice<String>
    private var options = RunOptions()
    private var isOnline = false
    private var tokens = TokenFlags()
    private var control = ControlFlags()
    private var positionals: [String] = []
    /// The words after the name of a tool.
    private var words: [String] = []
    /// The words after `--`.
    private var program: [String]?
    /// The options that were given, in their order.
    private var given: [String] = []

    private init(_ arguments: [String]) { self.arguments = arguments[...] }

    static func parse(_ arguments: [String]) throws(CommandLineError) -> Command {
        var parser = CommandLineParser(arguments)
        return try parser.parse()
    }

    private mutating func parse() throws(CommandLineError) -> Command {
        while let argument = arguments.popFirst() {
            if argument == "--" {
                guard positionals.first == "expose" else {
                    throw CommandLineError(
                        "a program after -- needs the command expose",
                        hint: "mcp-server expose -- PROGRAM ARGUMENT…")
                }
                program = Array(arguments)
                arguments = []
                continue
            }
            if !argument.hasPrefix("-") || argument == "-" {
                positionals.append(argument)
                // What follows the name of a tool are its arguments.
                if positionals.count == 2, Self.toolCommands.contains(positionals[0]) {
                    words = Array(arguments)
                    break
                }
                continue
            }
            let parts =
                argument.hasPrefix("--")
                ? argument.split(separator: "=", maxSplits: 1, omittingEmptySubsequences: false).map(
                    String.init)
                : [argument]
            let inline = parts.count > 1 ? parts[1] : nil
            if let command = try parseOption(parts[0], inline: inline) { return command }
        }
        return try command()
    }

    /// Parses an option; returns a command if the option is one: `--help`, `--version`.
    private mutating func parseOption(_ name: String, inline: String?) throws(CommandLineError) -> Command? {
        switch name {
        case "-c", "--config":
            if options.file != nil { throw CommandLineError("\(name) is given twice", hint: "give one file") }
            options.file = try value(of: name, inline, example: "FILE")
        case "--listen":
            let text = try value(of: name, inline, example: "127.0.0.1:8808")
            let address = try address(of: name, text, example: "unix:///run/user/1000/mcp.sock")
            if options.listen.contains(where: address.isTaken) {
                throw CommandLineError("--listen \(text) is given twice", hint: "give each address once")
            }
            options.listen.append(address)
        case "--set":
            let text = try value(of: name, inline, example: "limits.body=64MiB")
            guard let override = Override(text) else {
                throw CommandLineError(
                    "--set expects path=value, not \"\(text)\"", hint: "for example --set limits.body=64MiB")
            }
            options.overrides.append(override)
        case "--log-level":
            options.logLevel = try logLevel(try value(of: name, inline, example: "info"))
        case "--client-tools-auth": options.clientTools.auth = try clientToolsAuth(name, inline)
        case "--channel": options.clientTools.channel = try value(of: name, inline, example: "general")
        case "--providers-socket":
            options.clientTools.providersSocket = try value(
                of: name, inline, example: "/run/me/providers.sock")
        case "--admin":
            let example = "unix:///run/mcp/admin.sock"
            control.address = try address(
                of: name, value(of: name, inline, example: example), example: example)
        case "--timeout": try control.setTimeout(value(of: name, inline, example: "90s"))
        case "-n": try control.setCount(value(of: name, inline, example: "20"))
        case "--systemd", "--systemd-socket", "--launchd", "--nginx", "--caddy", "--docker":
            if inline != nil { throw CommandLineError("\(name) takes no value", hint: "write just \(name)") }
            if let file = SetupFile(rawValue: String(name.dropFirst(2))) { control.files.append(file) }
        case "--allow": tokens.allow.append(try value(of: name, inline, example: "git_*"))
        case "--scope": tokens.scopes.append(try value(of: name, inline, example: "tools:run"))
        case "--rate": tokens.rate = try TokenFlags.rate(value(of: name, inline, example: "60/min"))
        case "--expires": tokens.lifetime = try TokenFlags.lifetime(value(of: name, inline, example: "90d"))
        case "--demo", "--online", "--json", "--stdio", "--client-tools", "--core-dumps", "-h", "--help",
            "--man", "-V", "--version":
            if inline != nil { throw CommandLineError("\(name) takes no value", hint: "write just \(name)") }
            if ["-V", "--version"].contains(name) { return .version }
            if name == "--man" { return .manual }
            switch name {
            case "--demo": options.isDemo = true
            case "--online": isOnline = true
            case "--json": control.isJSON = true
            case "--stdio": options.isStdio = true
            case "--core-dumps": options.leavesCores = true
            case "--client-tools": options.clientTools.isOn = true
            default: return .help
            }
        default:
            let near = Suggestion.best(for: name, among: Self.options)
            guard let near else { throw CommandLineError("unknown option \(name)") }
            throw CommandLineError("unknown option \(name)", hint: "did you mean \(near)?")
        }
        given.append(name)
        return nil
    }

    private mutating func value(
        of name: String, _ inline: String?, example: String
    ) throws(CommandLineError) -> String {
        if let inline, !inline.isEmpty { return inline }
        if inline == nil, let next = arguments.first, !next.hasPrefix("-") || next == "-" {
            return arguments.removeFirst()
        }
        throw CommandLineError("\(name) needs a value", hint: "for example \(name) \(example)")
    }

    private func address(
        of name: String, _ text: String, example: String
    ) throws(CommandLineError) -> ConfiguredAddress {
        let diagnostics = Diagnostics()
        let position = SourcePosition(file: name)
        if let address = ConfigurationReader.address(text, at: position, diagnostics), !diagnostics.hasErrors
        {
            return address
        }
        throw CommandLineError(
            "\(name) \(diagnostics.sorted.first?.text ?? text)",
            hint: "for example \(name) 127.0.0.1:8808 or \(name) \(example)")
    }

    private func logLevel(_ text: String) throws(CommandLineError) -> LogLevel {
        if let level = LogLevel(name: text) { return level }
        let names = LogLevel.allCases.map(\.name)
        let hint = Suggestion.best(for: text, among: names).map { "did you mean \($0)?" }
        throw CommandLineError(
            "--log-level \(text) is not known",
            hint: hint ?? "the levels are \(names.joined(separator: ", "))")
    }

    private mutating func clientToolsAuth(
        _ name: String, _ inline: String?
    ) throws(CommandLineError) -> ClientToolSettings.Auth {
        let text = try value(of: name, inline, example: "token")
        if let auth = ClientToolSettings.Auth(rawValue: text) { return auth }
        throw CommandLineError(
            "\(name) accepts token or none, not \"\(text)\"", hint: "for example \(name) none")
    }

    private func command() throws(CommandLineError) -> Command {
        let name = positionals.first ?? "run"
        let rest = positionals.dropFirst()
        switch name {
        case "run":
            try refuse(rest)
            try refuseForeignOptions()
            return .run(try checked(options))
        case "expose":
            try refuseOptions(
                but: ["--listen", "--stdio", "--set", "--log-level", "--core-dumps"], command: name)
            var options = options
            options.exposed = try exposed(rest)
            return .run(options)
        case "check":
            try refuse(rest.dropFirst())
            try refuseOptions(but: ["--set", "-c", "--config", "--online"], command: name)
            if rest.first != nil, options.file != nil {
                throw CommandLineError(
                    "check accepts only one file", hint: "give the file once: mcp-server check FILE")
            }
            return .check(file: rest.first ?? options.file, options.overrides, isOnline: isOnline)
        case "token":
            try refuse(rest.dropFirst(rest.first == "list" ? 1 : 2))
            let own: Set<String> = rest.first == "new" ? ["--allow", "--scope", "--expires", "--rate"] : []
            try refuseOptions(
                but: own.union(["--set", "-c", "--config"]), command: "token \(rest.first ?? "list")")
            let request = try tokens.request(rest.first, name: rest.dropFirst().first)
            return .token(request, file: options.file, options.overrides)
        case "explain", "call":
            try refuseOptions(but: ["--set", "-c", "--config"], command: name)
            guard let tool = rest.first else {
                throw CommandLineError(
                    "\(name) needs a tool", hint: "for example mcp-server \(name) git_log repo=web limit=5")
            }
            try refuseFile(after: tool, name)
            let request = ToolRequest(tool: tool, words: words)
            return name == "call"
                ? .call(request, file: options.file, options.overrides)
                : .explain(request, file: options.file, options.overrides)
        case "schema", "version", "help":
            // One page is the help of all commands.
            let isTopic = name == "help" && rest.first.map { Self.commands.contains($0) } == true
            try refuse(rest.dropFirst(isTopic ? 1 : 0))
            try refuseOptions(but: [], command: name)
            return name == "schema" ? .schema : name == "version" ? .version : .help
        default:
            guard ControlFlags.commands.contains(name) else { throw Self.unknown(name) }
            try refuseOptions(but: ControlFlags.options(of: name), command: name)
            if name != "audit" { try refuse(rest) }
            guard let command = try control.command(name, rest, file: options.file, options.overrides) else {
                throw Self.unknown(name)
            }
            return command
        }
    }

    private static func unknown(_ name: String) -> CommandLineError {
        let near = Suggestion.best(for: name, among: commands)
        let hint =
            near.map { "did you mean mcp-server \($0)?" }
            ?? "use -c for a configuration file; commands are " + commands.joined(separator: ", ")
        return CommandLineError("unknown command \"\(name)\"", hint: hint)
    }

    /// Refuses `-c` behind the name of a tool, which no argument of a tool looks like.
    private func refuseFile(after tool: String, _ name: String) throws(CommandLineError) {
        guard let flag = words.firstIndex(of: "-c") else { return }
        let moved = ["mcp-server", name] + words[flag...].prefix(2) + [tool]
        let line = moved + words[..<flag] + words[flag...].dropFirst(2)
        throw CommandLineError(
            "-c must come before the tool",
            hint: TerminalText.inline(line.joined(separator: " "), limit: 1000))
    }

    private func exposed(_ words: ArraySlice<String>) throws(CommandLineError) -> Exposed {
        let hint = "mcp-server expose -- PROGRAM ARGUMENT…, expose DIRECTORY or expose URL"
        try refuse(words.dropFirst())
        switch (words.first, program) {
        case (nil, let program?) where !program.isEmpty: return .program(program)
        case (let word?, nil) where word.hasPrefix("http://") || word.hasPrefix("https://"):
            return .server(url: word)
        case (let word?, nil): return .directory(word)
        case (_?, _?): throw CommandLineError("expose serves one thing: a program or a place", hint: hint)
        default: throw CommandLineError("expose needs a program or a directory", hint: hint)
        }
    }

    /// Refuses the options of other commands, which would have no effect with `run`.
    private func refuseForeignOptions() throws(CommandLineError) {
        let foreign = [
            "--online", "--allow", "--scope", "--expires", "--rate", "--json", "-n", "--admin", "--timeout",
        ]
        for option in foreign where given.contains(option) {
            throw CommandLineError(
                "\(option) has no effect with run",
                hint: "it belongs to mcp-server \(Self.owner(of: option))")
        }
    }

    /// Returns the command that an option belongs to.
    private static func owner(of option: String) -> String {
        switch option {
        case "--online": "check"
        case "--json", "--admin": "status"
        case "-n": "errors"
        case "--timeout": "reload"
        default: "token new"
        }
    }

    private func refuse(_ extra: ArraySlice<String>) throws(CommandLineError) {
        guard let first = extra.first else { return }
        let isAddress = (try? ConfiguredAddress(first)) != nil
        let isFile = first.hasSuffix(".jsonc") || first.hasSuffix(".json")
        if isAddress {
            throw CommandLineError(
                "unexpected argument \"\(first)\"", hint: "write --listen before each address")
        }
        if isFile { throw CommandLineError("unexpected argument \"\(first)\"", hint: "write -c \(first)") }
        throw CommandLineError("unexpected argument \"\(first)\"")
    }

    private func refuseOptions(but allowed: Set<String>, command: String) throws(CommandLineError) {
        if let option = given.first(where: { !allowed.contains($0) }) {
            throw CommandLineError("\(option) has no effect with \(command)", hint: "leave it out")
        }
    }

    private func checked(_ options: RunOptions) throws(CommandLineError) -> RunOptions {
        if options.isDemo, options.file != nil {
            throw CommandLineError(
                "--demo and a configuration file cannot be combined", hint: "give one of them")
        }
        return options
    }
}
