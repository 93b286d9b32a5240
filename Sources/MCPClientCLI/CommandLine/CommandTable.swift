import MCPCore

/// The commands, in the order of the help text. Each row is the complete definition of one command.
extension Command {
    static let all: [Command] = main + checks

    private static let main: [Command] = [
        Command(
            name: "info", summary: "identity, protocol versions, capabilities, instructions",
            flags: Flag.connected + Flag.results,
            examples: ["mcp-client info http://127.0.0.1:3000/mcp"],
            run: session { session throws(Failure) in try await InfoCommand(session: session).run() }),
        Command(
            name: "tools", summary: "list tools as signatures", operands: [Operand("GLOB", .optional)],
            flags: Flag.connected + Flag.results + ListFlag.allCases.map(Flag.list) + Flag.locking
                + [.check(.locked)],
            notes: [
                "GLOB selects by name: * any text, ? one character, [a-z] one of a set. Descriptions are cut",
                "after their first line; the command tool shows all of one tool.",
            ],
            examples: [
                "mcp-client tools localhost:3000 'git_*'",
                "mcp-client tools localhost:3000 --search 'pull request'",
            ],
            run: session { session throws(Failure) in
                try await ListCommands(session: session).tools(glob: session.operand(0))
            }),
        Command(
            name: "tool", summary: "one tool in full: description, arguments, schemas, hints",
            operands: [Operand("NAME", kind: .tool)], flags: Flag.connected + Flag.results,
            examples: ["mcp-client tool git_log -- ./server"],
            run: session { session throws(Failure) in
                try await ToolCommand(session: session).run(session.operand(0) ?? "")
            }),
        Command(
            name: "call", summary: "call a tool", operands: [Operand("TOOL")], takesArguments: true,
            flags: Flag.connected + Flag.results + Flag.answering + Flag.sending + Flag.locking + [
                .output(.raw), .output(.structured), .output(.images), .arguments(.noValidate),
                .interaction(.yes), .check(.locked),
            ],
            usesCache: true,
            notes: [
                "ARGS follow the tool name and get their types from the tool's schema:",
                "  k=v             a value; id=000123 stays text if the schema specifies a string",
                "  k:=JSON         a JSON value as given",
                "  k=@FILE         the text of a file; k=@- of stdin",
                "  k:=@FILE        the JSON of a file",
                "  a.b=v           a member of a nested object",
                "  k=v k=w         an array, when the schema says array",
                "  --k v  --k=v    the same as k=v, when the schema has k; --k alone is true",
                "  {…}             the whole object, also piped into stdin; the other forms merge over it",
            ],
            examples: [
                "mcp-client call localhost:3000 git_log repo=web limit=2",
                "mcp-client --json call git_log repo=web -- ./server --verbose",
            ],
            run: session { session throws(Failure) in
                try await CallCommand(session: session).run(
                    session.operand(0) ?? "", session.invocation.arguments)
            }),
        Command(
            name: "resources", summary: "list resources", flags: Flag.connected + Flag.results,
            examples: ["mcp-client resources localhost:3000"],
            run: session { session throws(Failure) in try await ListCommands(session: session).resources() }),
        Command(
            name: "templates", summary: "list resource templates", flags: Flag.connected + Flag.results,
            examples: ["mcp-client templates localhost:3000"],
            run: session { session throws(Failure) in try await ListCommands(session: session).templates() }),
        Command(
            name: "read", summary: "read resources", operands: [Operand("URI", .oneOrMore)],
            flags: Flag.connected + Flag.results + Flag.answering + Flag.sending
                + [.output(.raw), .output(.images)],
            usesCache: true,
            examples: ["mcp-client read localhost:3000 file:///notes.txt"],
            run: session { session throws(Failure) in
                try await ReadCommand(session: session).run(session.invocation.operands)
            }),
        Command(
            name: "prompts", summary: "list prompts", flags: Flag.connected + Flag.results,
            examples: ["mcp-client prompts localhost:3000"],
            run: session { session throws(Failure) in try await ListCommands(session: session).prompts() }),
        Command(
            name: "prompt", summary: "get a prompt", operands: [Operand("NAME", kind: .prompt)],
            takesArguments: true,
            flags: Flag.connected + Flag.results + Flag.answering + Flag.sending
                + [.output(.raw), .arguments(.noValidate)],
            usesCache: true,
            notes: ["ARGS are k=v, k=@file, k=@- or --k v; a prompt's arguments are always strings."],
            examples: ["mcp-client prompt localhost:3000 review code=@main.swift"],
            run: session { session throws(Failure) in
                try await PromptCommand(session: session).run(
                    session.operand(0) ?? "", session.invocation.arguments)
            }),
        Command(
            name: "raw", summary: "send any request, print the result",
            operands: [Operand("METHOD"), Operand("JSON", .optional, reads: .after("@"))],
            flags: Flag.connected + Flag.results + Flag.answering + Flag.sending, printsWire: true,
            notes: ["JSON is the params object; @FILE reads it from a file, @- from stdin."],
            examples: ["mcp-client raw localhost:3000 tools/call '{\"name\":\"now\"}'"],
            run: { context throws(Failure) in
                let json = context.invocation.operand(1)
                _ = try RawCommand.checkedText(json)
                return try await context.withSession { session throws(Failure) in
                    try await RawCommand(session: session).run(session.operand(0) ?? "", json)
                    return .ok
                }
            }),
        Command(
            name: "complete", summary: "values that a server proposes for an argument",
            operands: [
                Operand("SUBJECT", kind: .completionSubject),
                Operand("ARGUMENT", kind: .completionArgument),
                Operand("PREFIX", .optional, kind: .completionValue),
            ],
            flags: Flag.connected + Flag.results,
            usesCache: true,
            notes: ["SUBJECT is prompt:NAME or the text of a resource template."],
            examples: ["mcp-client complete localhost:3000 prompt:review language sw"],
            run: session { session throws(Failure) in
                try await CompleteCommand(session: session).run(
                    session.operand(0) ?? "", session.operand(1) ?? "", session.operand(2) ?? "")
            }),
        Command(
            name: "watch", summary: "print a line for each change that the server reports",
            operands: [Operand("URI", .zeroOrMore)],
            flags: Flag.connected + Flag.results + [.interaction(.exec), .interaction(.eventCount)],
            endsByStopping: true,
            notes: ["Without URI the lists are watched: tools, prompts and resources."],
            examples: [
                "mcp-client watch localhost:3000",
                "mcp-client watch localhost:3000 docs:///runbook.md --exec ./render.sh",
            ],
            run: session { session throws(Failure) in
                try await WatchCommand(session: session).run(session.invocation.operands)
            }),
        Command(
            name: "shell", summary: "type commands to one connection, with history and completion",
            flags: Flag.connected + Flag.answering,
            needsOwnConnection: true,
            notes: [
                "Lines are the commands above without TARGET: tools, call add a=2 b=3. Tab completes, Ctrl-C",
                "cancels the call, Ctrl-D ends. Without a terminal, lines are read from stdin, and the",
                "status is the one of the last command.",
            ],
            examples: ["mcp-client shell localhost:3000"],
            run: untilStopped { context throws(Failure) in
                try await ShellCommand(
                    context: context, commands: insideShell,
                    parse: { words throws(Failure) in
                        // The words after -- stand for the server, which is connected.
                        switch try InvocationParser.parse(words + ["--", "server"], commands: insideShell) {
                        case .run(let invocation): .run(invocation)
                        case .help(let command): .help(command)
                        case .complete: .help(nil)
                        }
                    }, help: { Help.text(for: $0, width: $1) }, isCommand: { named($0) != nil }
                ).run()
            }),
        Command(
            name: "doctor", summary: "check the way to a server, step by step", group: .diagnose,
            flags: Flag.connected + [.check(.strict)],
            reportsOutages: true, needsOwnConnection: true,
            notes: [
                "Looks up the address, connects, looks at how a login would begin, reads what the server is",
                "and offers, and sends one request as a page of another site would. Calls no tool, and",
                "registers, stores and opens nothing. Ends with 8 if a step fails, with --strict also if",
                "there are warnings.",
            ],
            examples: ["mcp-client doctor https://mcp.example.com/mcp", "mcp-client doctor -- ./server"],
            run: { context throws(Failure) in try await DoctorCommand(context: context).run() }),
        Command(
            name: "ping", summary: "measure one round trip", group: .diagnose, flags: Flag.connected,
            examples: ["mcp-client ping localhost:3000"],
            run: session { session throws(Failure) in try await PingCommand(session: session).run() }),
        Command(
            name: "bench", summary: "call a tool many times, print how long the calls took",
            group: .diagnose,
            operands: [Operand("TOOL")], takesArguments: true,
            flags: Flag.connected + Flag.results
                + [.arguments(.noValidate), .interaction(.yes), .interaction(.noInput)]
                + BenchFlag.allCases.map(Flag.bench),
            usesCache: true,
            notes: [
                "The first call is made by itself, and no other one if it fails. It is one of COUNT; the",
                "rate is that of the others.",
                "The processor time of the server is shown where it can be read: a program after --,",
                "or a server of the same user on this machine (Linux).",
            ],
            examples: ["mcp-client bench -n 20000 -c 16 localhost:3000 echo text=hello"],
            run: session { session throws(Failure) in
                try await BenchCommand(session: session).run(
                    session.operand(0) ?? "", session.invocation.arguments)
            }),
        Command(
            name: "agent", summary: "let a model use the tools of servers, with your approval",
            operands: [Operand("PROMPT"), Operand("TARGET", .zeroOrMore)], targets: .several,
            flags: Flag.connected + [.output(.output)] + Flag.answering + Flag.withModel
                + [.agent(.policy), .agent(.trust), .agent(.rounds), .agent(.events)] + Flag.conversing
                + Flag.locking + [.check(.locked)],
            usesCache: true,
            notes: [
                "PROMPT - reads prompts from the terminal, one per line; from a pipe, one prompt.",
                "Every call that may change something, or that only the server claims to be harmless, needs",
                "your approval before it runs. Without a terminal it is denied, and the status is 7.",
                "Configured servers keep their names; others are server1, server2 and so on, unless",
                "--server names them.",
            ],
            examples: [
                "mcp-client agent --model openai:http://localhost:11434/v1,qwen3 'What changed?' localhost:3000",
                "mcp-client agent --model-command ./model.py 'Tidy up' -- ./server",
            ],
            run: untilStopped { context throws(Failure) in try await AgentCommand(context).run() }),
        Command(
            name: "host", summary: "show servers' user interfaces (MCP Apps) in a browser",
            operands: [Operand("TARGET", .zeroOrMore)], targets: .several,
            flags: Flag.connectedWithoutLogins + [.auth(.store)] + Flag.withModel
                + HostFlag.allCases.map(Flag.host),
            notes: [
                "Prints one line, the address of the page; it ends with the key of this run. Serves on",
                "127.0.0.1 until it is stopped. Views run in a sandbox, each with an origin of its own.",
                "Servers are named automatically, unless --server or the configuration names them.",
                "Stored logins are used and renewed; for a server without one, the page names the command",
                "that logs in, and the server is tried again until it has one.",
            ],
            examples: [
                "mcp-client host localhost:3001", "mcp-client host --open -- mcp-server --demo --stdio",
                "mcp-client host --config mcp.json --history calls.jsonl --approve ask",
            ],
            run: untilStopped { context throws(Failure) in try await HostCommand(context).run() }),
        Command(
            name: "provide", summary: "offer tools in a channel of a daemon, until it is stopped",
            group: .setUp, operands: [Operand("DAEMON")], targets: .none, takesProgram: true,
            flags: [.transport(.bearerEnv)] + ProvideFlag.allCases.map(Flag.provide),
            notes: [
                "DAEMON is https://HOST, http://HOST:PORT, HOST:PORT, or the path of its socket for providers.",
                "A program after -- is an MCP server over stdio; it is started again for each connection.",
                "--tool offers demonstration tools: \(DemoTool.names).",
            ],
            examples: [
                "mcp-client provide --channel general --tool greet /run/user/1000/mcpcore/providers.sock",
                "mcp-client provide --channel general localhost:3001 -- ./server",
            ],
            run: untilStopped { context throws(Failure) in try await ProvideCommand(context).run() }),
        Command(
            name: "config", summary: "show and change which servers have names", group: .setUp,
            operands: [
                Operand("ACTION", kind: .choices(ConfigCommand.actions)),
                Operand("NAME", .optional, kind: .server), Operand("URL", .optional),
            ],
            targets: .none, takesProgram: true,
            flags: [.output(.json), .transport(.environment), .transport(.directory), .transport(.header)],
            notes: [
                "ACTION is list, get, check, add, remove, allow, import, fix-paths or path.",
                "list shows all servers, and get one of them with its secrets masked; path shows the files",
                "that are searched. check reports mistakes, unset variables and programs that do not exist,",
                "and ends with 8 if there are any; it starts nothing. add, remove, import and fix-paths,",
                "which writes the full paths of programs, change the file of mcp-client and no other. allow",
                "permits a server of the project in this directory, until its entry changes.",
            ],
            examples: [
                "mcp-client config add docs https://mcp.example.com/mcp",
                "mcp-client config add -e LEVEL=2 files -- ./server --root /srv",
                "mcp-client config list",
            ],
            run: { context throws(Failure) in try ConfigCommand(context: context).run() }),
        Command(
            name: "login", summary: "log in to a server (OAuth) and keep its tokens", group: .setUp,
            isForHTTP: true,
            flags: Flag.connected + Flag.login,
            meanings: [.transport(.timeout): "longest wait for the person (5m)"],
            notes: [
                "Opens the login page of the authorization server in the browser, and waits until it",
                "returns to an address of this machine, which can also be pasted at the terminal.",
                "--timeout limits the wait (5m). Other commands use the tokens and renew them.",
                "Without flags it repeats the latest login, unless --auth-grant names another grant.",
            ],
            examples: [
                "mcp-client login https://mcp.example.com/mcp",
                "mcp-client login --no-browser --scope files:read https://mcp.example.com/mcp",
            ],
            run: { context throws(Failure) in try await LoginCommand(context: context).run() }),
        Command(
            name: "logout", summary: "revoke and delete the tokens for a server", group: .setUp,
            operands: [Operand("TARGET", .optional)], targets: .none,
            isForHTTP: true, flags: Flag.authorized + Flag.reaching + [.auth(.all), .auth(.forget)],
            examples: [
                "mcp-client logout https://mcp.example.com/mcp", "mcp-client logout --all --forget",
            ],
            run: { context throws(Failure) in try await LogoutCommand(context: context).run() }),
        Command(
            name: "auth", summary: "show logins, or print a token for another program", group: .setUp,
            operands: [Operand("status|token"), Operand("TARGET", .optional)], targets: .none,
            isForHTTP: true, flags: Flag.authorized + Flag.reaching + [.auth(.show)],
            notes: [
                "status TARGET exits with 4 if no login can be used. token TARGET renews the token",
                "first; to a terminal it prints it only with --show.",
            ],
            examples: [
                "mcp-client auth status", "mcp-client auth status --json https://mcp.example.com/mcp",
                "mcp-client auth token https://mcp.example.com/mcp",
            ],
            run: { context throws(Failure) in try await AuthCommand(context: context).run() }),
        Command(
            name: "completion", summary: "print the script that completes command lines in a shell",
            group: .setUp, operands: [Operand("SHELL", kind: .choices(CompletionScript.shells))],
            targets: .none, flags: [],
            notes: [
                "SHELL is bash, zsh or fish. The script asks mcp-client for each proposal: commands, flags",
                "and their values, configured servers, and of a server its tools, prompts, resources and",
                "arguments.",
                "The first lines of the script say how to install it.",
            ],
            examples: ["mcp-client completion bash"],
            run: { context throws(Failure) in
                let shell = context.invocation.operand(0) ?? ""
                guard let script = CompletionScript.text(for: shell) else {
                    throw .usage(
                        "completion for \(quoted(shell)) is not available",
                        hint:
                            "SHELL must be \(CompletionScript.shells.dropLast().joined(separator: ", ")) or "
                            + (CompletionScript.shells.last ?? ""))
                }
                context.console.stdout.write(script)
                return .ok
            }),
        version,
        help,
    ]

    /// The commands of `shell`: those that use one server of any kind.
    private static var insideShell: [Command] {
        all.filter { $0.targets == .one && !$0.isForHTTP && !$0.needsOwnConnection }.map(\.insideShell)
    }

    /// The `version` command, which `--version` runs too.
    static let version = Command(
        name: "version", summary: "print the version; no network access", group: .setUp, targets: .none,
        flags: [],
        run: { context in
            VersionCommand(console: context.console).run()
            return .ok
        })

    private static let help = Command(
        name: "help", summary: "explain a command", group: .setUp,
        operands: [Operand("COMMAND", .optional)], targets: .none, flags: [.auth(.all), .other(.manual)],
        meanings: [.auth(.all): "all commands and flags"],
        examples: ["mcp-client help call", "mcp-client help --man"],
        run: { context throws(Failure) in
            let command = try context.invocation.operand(0).map { name throws(Failure) in try find(name) }
            let options = context.invocation.options
            let width = context.console.width
            context.console.stdout.write(
                options.manual
                    ? ClientManual.text
                    : command == nil && options.auth.isForAll
                        ? Help.everything(width: width) : Help.text(for: command, width: width))
            return .ok
        })

    static func named(_ name: String) -> Command? { all.first { $0.name == name } }

    /// What other programs call these commands.
    private static let synonyms = [
        "list": "tools", "ls": "tools", "run": "call", "invoke": "call", "exec": "call", "get": "read",
        "subscribe": "watch", "chat": "agent", "repl": "shell", "check": "doctor", "record": "tap",
    ]

    /// Returns the command with a name.
    static func find(_ word: String, among commands: [Command] = all) throws(Failure) -> Command {
        if let command = commands.first(where: { $0.name == word }) { return command }
        if word == "expose" {
            throw .usage(
                "\(quoted(word)) is a command of mcp-server",
                hint: "mcp-server expose -- PROGRAM ARGS serves a program over HTTP")
        }
        let names = commands.map(\.name)
        let best =
            synonyms[word].flatMap { names.contains($0) ? $0 : nil }
            ?? Suggestion.best(for: word, among: names)
        throw .usage(
            "\(quoted(word)) is not a command", details: best.map { ["did you mean \($0)?"] } ?? [],
            hint: "mcp-client --help lists the commands")
    }
}

extension Command {
    /// Returns an action that works with the server that TARGET names.
    static func session(
        _ work: @escaping @Sendable (Session) async throws(Failure) -> ExitCode
    ) -> Run {
        { context throws(Failure) in try await context.withSession(work) }
    }

    static func session(
        _ work: @escaping @Sendable (Session) async throws(Failure) -> Void
    ) -> Run {
        session { session throws(Failure) in
            try await work(session)
            return .ok
        }
    }

    /// Returns an action whose work ends in an orderly way when it is cancelled.
    static func untilStopped(
        _ work: @escaping @Sendable (CommandContext) async throws(Failure) -> ExitCode
    ) -> Run {
        { context throws(Failure) in
            let code = try await work(context)
            if let failure = context.stop.failure { throw failure }
            return code
        }
    }
}
