/// The commands. Their grammar and their help are rows of one table.
enum Command: String, Sendable, CaseIterable {
    case info, tools, tool, call, resources, templates, read, prompts, prompt, raw, complete, watch, ping,
        bench, agent, host, provide, version
}

/// One word that stands after the TARGET of a command.
struct Operand: Sendable, Hashable {
    enum Count: Sendable { case one, optional, oneOrMore, zeroOrMore }
    let name: String
    let count: Count

    var placeholder: String {
        switch count {
        case .one: name
        case .optional: "[\(name)]"
        case .oneOrMore: "\(name)…"
        case .zeroOrMore: "[\(name)…]"
        }
    }
}

/// The grammar of one command.
struct CommandGrammar: Sendable {
    let summary: String
    var operands: [Operand] = []
    /// Words after the last operand belong to the tool or prompt, not to us.
    var takesArguments = false
    /// How many servers it talks to; of several, each is an operand behind the others.
    enum Targets: Sendable { case none, one, several }
    var targets = Targets.one
    var needsTarget: Bool { targets == .one }
    /// A program after -- is no server to connect to, but what the command works with.
    var takesProgram = false
    /// Further lines of `COMMAND --help`.
    var notes: [String] = []
    var examples: [String] = []
}

extension Command {
    var grammar: CommandGrammar {
        switch self {
        case .info:
            CommandGrammar(
                summary: "identity, protocol versions, capabilities, instructions",
                examples: ["mcp-client info http://127.0.0.1:3000/mcp"])
        case .tools:
            CommandGrammar(
                summary: "list tools as signatures",
                operands: [Operand(name: "GLOB", count: .optional)],
                notes: ["GLOB selects by name: * any text, ? one character, [a-z] one of a set."],
                examples: ["mcp-client tools localhost:3000 'git_*'"])
        case .tool:
            CommandGrammar(
                summary: "one tool in full: description, arguments, schemas, hints",
                operands: [Operand(name: "NAME", count: .one)],
                examples: ["mcp-client tool git_log -- ./server"])
        case .call: Self.callGrammar
        case .resources:
            CommandGrammar(summary: "list resources", examples: ["mcp-client resources localhost:3000"])
        case .templates:
            CommandGrammar(
                summary: "list resource templates", examples: ["mcp-client templates localhost:3000"])
        case .read:
            CommandGrammar(
                summary: "read resources",
                operands: [Operand(name: "URI", count: .oneOrMore)],
                examples: ["mcp-client read localhost:3000 file:///notes.txt"])
        case .prompts:
            CommandGrammar(summary: "list prompts", examples: ["mcp-client prompts localhost:3000"])
        case .prompt:
            CommandGrammar(
                summary: "get a prompt",
                operands: [Operand(name: "NAME", count: .one)],
                takesArguments: true,
                notes: ["ARGS are k=v, k=@file, k=@- or --k v; a prompt's arguments are always texts."],
                examples: ["mcp-client prompt localhost:3000 review code=@main.swift"])
        case .raw:
            CommandGrammar(
                summary: "send any request, print the result",
                operands: [Operand(name: "METHOD", count: .one), Operand(name: "JSON", count: .optional)],
                notes: ["JSON is the params object; @FILE reads it from a file, @- from stdin."],
                examples: ["mcp-client raw localhost:3000 tools/call '{\"name\":\"now\"}'"])
        case .complete:
            CommandGrammar(
                summary: "values that a server proposes for an argument",
                operands: [
                    Operand(name: "SUBJECT", count: .one), Operand(name: "ARGUMENT", count: .one),
                    Operand(name: "PREFIX", count: .optional),
                ],
                notes: ["SUBJECT is prompt:NAME or the text of a resource template."],
                examples: ["mcp-client complete localhost:3000 prompt:review language sw"])
        case .watch:
            CommandGrammar(
                summary: "a line for each change that the server tells of",
                operands: [Operand(name: "URI", count: .zeroOrMore)],
                notes: ["Without URI the lists are watched: tools, prompts and resources."],
                examples: [
                    "mcp-client watch localhost:3000",
                    "mcp-client watch localhost:3000 docs:///runbook.md --exec ./render.sh",
                ])
        case .ping:
            CommandGrammar(
                summary: "measure one round trip", examples: ["mcp-client ping localhost:3000"])
        case .bench:
            CommandGrammar(
                summary: "call a tool many times, print how long the calls took",
                operands: [Operand(name: "TOOL", count: .one)],
                takesArguments: true,
                notes: [
                    "The processor time of the server is shown where it can be read: a program after --,",
                    "or a server of the same user on this machine (Linux).",
                ],
                examples: ["mcp-client bench -n 20000 -c 16 localhost:3000 echo text=hello"])
        case .provide: Self.provideGrammar
        case .agent: Self.agentGrammar
        case .host: Self.hostGrammar
        case .version:
            CommandGrammar(summary: "print the version; no network access", targets: .none)
        }
    }

    private static var provideGrammar: CommandGrammar {
        CommandGrammar(
            summary: "offer tools in a channel of a daemon, until it is stopped",
            operands: [Operand(name: "DAEMON", count: .one)], targets: .none, takesProgram: true,
            notes: [
                "DAEMON is http://HOST:PORT, HOST:PORT, or the path of its socket for providers.",
                "A program after -- is an MCP server over stdio; it is started anew for each connection.",
                "--tool offers tools for trying it out: \(DemoTool.names).",
            ],
            examples: [
                "mcp-client provide --channel general --tool greet /run/user/1000/mcpcore/providers.sock",
                "mcp-client provide --channel general localhost:3001 -- ./server",
            ])
    }

    private static var callGrammar: CommandGrammar {
        CommandGrammar(
            summary: "call a tool",
            operands: [Operand(name: "TOOL", count: .one)],
            takesArguments: true,
            notes: [
                "ARGS stand after the tool name and get their types from the tool's schema:",
                "  k=v             a value; id=000123 stays a text if the schema says string",
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
            ])
    }

    private static var agentGrammar: CommandGrammar {
        CommandGrammar(
            summary: "let a model use the tools of servers, under your approval",
            operands: [
                Operand(name: "PROMPT", count: .one), Operand(name: "TARGET", count: .zeroOrMore),
            ],
            targets: .several,
            notes: [
                "Every call that may change something, or that a server only says to be harmless, is put",
                "to you before it runs. Without a terminal it is denied, and the status is 7.",
                "Servers are named server1, server2 and so on, unless --server names them.",
            ],
            examples: [
                "mcp-client agent --model openai:http://localhost:11434/v1,qwen3 'What changed?' localhost:3000",
                "mcp-client agent --model-command ./model.py 'Tidy up' -- ./server",
            ])
    }

    private static var hostGrammar: CommandGrammar {
        CommandGrammar(
            summary: "show servers' user interfaces (MCP Apps) in a browser",
            operands: [Operand(name: "TARGET", count: .zeroOrMore)], targets: .several,
            notes: [
                "Prints one line, the address of the page; its end is a key of this run. Serves on 127.0.0.1",
                "until it is stopped. Views run in a sandbox, each with an origin of its own.",
                "Servers are named by themselves, unless --server or the configuration names them.",
            ],
            examples: [
                "mcp-client host localhost:3001", "mcp-client host --open -- mcp-server --demo --stdio",
                "mcp-client host --config mcp.json --history calls.jsonl --approve ask",
            ])
    }

    /// The operands with TARGET before them, as usage lines show them.
    var usage: String {
        let grammar = grammar
        var words = ["mcp-client", rawValue]
        words.append("[FLAGS]")
        if grammar.needsTarget { words.append("TARGET") }
        words += grammar.operands.map(\.placeholder)
        if grammar.takesArguments { words.append("[ARGS]") }
        return words.joined(separator: " ")
    }
}
