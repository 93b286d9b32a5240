/// The commands that record conversations, and those that check servers.
extension Command {
    static let checks: [Command] = [
        Command(
            name: "find", summary: "search the tools of all configured servers", operands: [Operand("GLOB")],
            targets: .none,
            flags: [
                .transport(.timeout), .transport(.connectTimeout), .transport(.deadline),
                .transport(.noCache),
            ],
            usesCache: true,
            notes: ["Servers of a project that have not been allowed are left out, with a note."],
            examples: ["mcp-client find '*issue*'"],
            run: { context throws(Failure) in try await FindCommand(context: context).run() }),
        Command(
            name: "tap", summary: "stand between a client and a server, and record what they say",
            group: .diagnose,
            flags: recording + [
                .check(.listen), .check(.only), .transport(.header), .transport(.bearerEnv),
                .transport(.bearerFile), .transport(.trustFile), .auth(.store),
            ],
            writesOwnFile: true, needsOwnConnection: true,
            notes: [
                "A program is recorded on stdin and stdout: put tap in front of it where a host starts it.",
                "For an HTTP server, the address to use in place of its own is printed.",
                "Secrets are masked. The lines go to the end of -o FILE, else to stderr.",
            ],
            examples: [
                "mcp-client tap -o calls.jsonl -- ./server",
                "mcp-client tap -o calls.jsonl --only 'get_*' --listen 127.0.0.1:3001 localhost:3000",
            ],
            run: { context throws(Failure) in try await TapCommand(context: context).run() }),
        Command(
            name: "mock", summary: "serve a recording as a server",
            group: .diagnose, operands: [Operand("FILE")],
            targets: .none, flags: [.check(.listen)],
            notes: [
                "Over stdio, or with --listen over HTTP. Equal requests get the recorded responses in order."
            ],
            examples: ["mcp-client mock calls.jsonl", "mcp-client mock --listen 3001 calls.jsonl"],
            run: { context throws(Failure) in try await MockCommand(context: context).run() }),
        Command(
            name: "replay", summary: "send a recorded conversation again, and compare the responses",
            group: .diagnose,
            operands: [Operand("FILE"), Operand("TARGET", .optional)], targets: .none, takesProgram: true,
            flags: Flag.connected + [.check(.all), .check(.ignore)],
            notes: [
                "Calls of tools that are neither read-only nor idempotent are sent only with --all-calls.",
                "Ends with 8 if a response differs.",
            ],
            examples: ["mcp-client replay calls.jsonl localhost:3000"],
            run: { context throws(Failure) in try await ReplayCommand(context: context).run() }),
        Command(
            name: "diff", summary: "compare what two servers, recordings or lock files offer",
            group: .check,
            operands: [Operand("A"), Operand("B", .optional)], targets: .none, takesProgram: true,
            flags: Flag.connected,
            notes: [
                "A and B are TARGETs, FILE.jsonl, or FILE.lock#NAME; B may be a program after --.",
                "Ends with 8 if they differ.",
            ],
            examples: ["mcp-client diff mcp.lock#ops https://mcp.example.com/mcp"],
            run: { context throws(Failure) in try await DiffCommand(context: context).run() }),
        Command(
            name: "lint", summary: "look for defects in the definitions of a server",
            group: .check,
            flags: Flag.connected + [.check(.strict)],
            notes: ["Ends with 8 if there are errors, with --strict also if there are warnings."],
            examples: ["mcp-client lint -- ./server"],
            run: session { session throws(Failure) in try await LintCommand(session: session).run() }),
        Command(
            name: "lock", summary: "write the definitions of a server to mcp.lock",
            group: .check,
            flags: Flag.connected + Flag.locking,
            notes: ["Other servers in the file stay. Review it, and put it under version control."],
            examples: ["mcp-client lock ops"],
            run: session { session throws(Failure) in try await LockCommands(session: session).lock() }),
        Command(
            name: "verify", summary: "compare a server with mcp.lock",
            group: .check,
            flags: Flag.connected + Flag.locking,
            notes: ["Prints each difference, and ends with 8 if there are any."],
            examples: ["mcp-client verify ops"],
            run: session { session throws(Failure) in try await LockCommands(session: session).verify() }),
        Command(
            name: "test", summary: "run the tests in files against servers",
            group: .check,
            operands: [Operand("FILE", .oneOrMore)], targets: .none, takesProgram: true,
            flags: Flag.connected + Flag.locking + [.check(.junit)],
            notes: [
                "Prints the Test Anything Protocol, and ends with 8 if a test fails.",
                "A program after -- takes the place of the servers that the files name.",
            ],
            examples: [
                "mcp-client test tests.json", "mcp-client test --junit out.xml tests.json -- ./server",
            ],
            run: { context throws(Failure) in try await TestCommand(context: context).run() }),
    ]

    private static let recording: [Flag] = [
        .output(.output), .transport(.environment), .transport(.directory), .transport(.deadline),
    ]
}
