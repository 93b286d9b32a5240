/// Our flags. They stand before the tool name; behind it there are only the tool's arguments.
enum Flag: Sendable, CaseIterable {
    case json, raw, structured, select, output, quiet, verbose, wire, timings, color
    case header, bearerEnv, bearerFile, trustFile, environment, directory
    case protocolVersion, timeout, deadline, connectTimeout, noValidate
    case answer, answers, noInput, logLevel, exec, eventCount
    case benchCount, benchConcurrency
    case channel, clientID, tokenFile, once, demoTool
    case server, model, modelCommand, modelKey, policy, trust, rounds, events
    case port, sandboxPort, opens, staysClosed, csp, allowDomains, blockDomains, allowHosts, approve, grant
    case theme, history, scan, config
    case help, version
}

/// The grammar of one flag.
struct FlagGrammar: Sendable {
    enum Group: String, Sendable, CaseIterable {
        case output = "Output"
        case transport = "Transport"
        case arguments = "Argument"
        case interaction = "Interaction"
        case agent = "Agent"
        case host = "Host"
        case other = "Other"
    }

    let group: Group
    /// All spellings; the first one is shown in messages.
    let names: [String]
    /// What stands for the value in help texts; nil for a flag without a value.
    var value: String?
    let summary: String
}

extension Flag {
    var grammar: FlagGrammar {
        switch self {
        case .json, .raw, .structured, .select, .output, .quiet, .verbose, .wire, .timings, .color:
            outputGrammar
        case .header, .bearerEnv, .bearerFile, .trustFile, .environment, .directory, .protocolVersion,
            .timeout, .deadline, .connectTimeout:
            transportGrammar
        case .noValidate:
            FlagGrammar(
                group: .arguments, names: ["--no-validate"],
                summary: "send the arguments without checking them against the schema")
        case .answer, .answers, .noInput, .logLevel, .exec, .eventCount: interactionGrammar
        case .benchCount:
            FlagGrammar(
                group: .arguments, names: ["-n", "--requests"], value: "COUNT",
                summary: "calls to make (1000)")
        case .benchConcurrency:
            FlagGrammar(
                group: .arguments, names: ["-c", "--concurrency"], value: "COUNT",
                summary: "calls at the same time (1)")
        case .channel, .clientID, .tokenFile, .once, .demoTool: provideGrammar
        case .server, .model, .modelCommand, .modelKey, .policy, .trust, .rounds, .events: agentGrammar
        case .port, .sandboxPort, .opens, .staysClosed, .csp, .allowDomains, .blockDomains, .allowHosts,
            .approve,
            .grant, .theme, .history, .scan, .config:
            hostGrammar
        case .help:
            FlagGrammar(group: .other, names: ["--help", "-h"], summary: "print help")
        case .version:
            FlagGrammar(group: .other, names: ["--version"], summary: "print the version")
        }
    }

    private var outputGrammar: FlagGrammar {
        func flag(_ names: [String], _ value: String?, _ summary: String) -> FlagGrammar {
            FlagGrammar(group: .output, names: names, value: value, summary: summary)
        }
        return switch self {
        case .json:
            flag(["--json"], nil, "the result object exactly as on the wire")
        case .raw:
            flag(["--raw"], nil, "the bytes of the single content block")
        case .structured:
            flag(["--structured"], nil, "only structuredContent")
        case .select:
            flag(["--select"], ".a.b[0]", "one part of the result")
        case .output:
            flag(
                ["-o", "--output"], "FILE", "write to FILE; images and audio go to files beside it")
        case .quiet:
            flag(["-q", "--quiet"], nil, "no notices and no progress")
        case .verbose:
            flag(["-v", "--verbose"], nil, "one line per message, on stderr")
        case .wire:
            flag(["-vv"], nil, "the whole wire with headers; secrets are masked")
        case .timings:
            flag(["--timings"], nil, "where the time went, on stderr")
        default:
            flag(["--color"], "auto|always|never", "colour; NO_COLOR and CLICOLOR_FORCE are honoured")
        }
    }

    private var interactionGrammar: FlagGrammar {
        func flag(_ name: String, _ value: String?, _ summary: String) -> FlagGrammar {
            FlagGrammar(group: .interaction, names: [name], value: value, summary: summary)
        }
        return switch self {
        case .answer:
            flag("--answer", "FIELD=V", "answer a question of the server (repeatable)")
        case .answers: flag("--answers", "FILE", "answers as a JSON object")
        case .noInput: flag("--no-input", nil, "never ask at the terminal; exit 7 instead")
        case .logLevel: flag("--log-level", "LEVEL", "show log messages from this level on")
        case .exec:
            flag("--exec", "'PROGRAM ARGS'", "run it at each event; {uri} and {event} are inserted")
        default: flag("--count", "N", "end after so many events")
        }
    }

    private var agentGrammar: FlagGrammar {
        func flag(_ name: String, _ value: String, _ summary: String) -> FlagGrammar {
            FlagGrammar(group: .agent, names: [name], value: value, summary: summary)
        }
        return switch self {
        case .server:
            flag("--server", "NAME=TARGET", "one more server, by a name of yours (repeatable)")
        case .model:
            flag(
                "--model", "openai:URL,NAME", "a model behind the chat completions interface; or script:FILE")
        case .modelCommand: flag("--model-command", "'PROGRAM ARGS'", "a model that is a program")
        case .modelKey:
            flag("--model-key-env", "VAR", "key of the model, from an environment variable")
        case .policy: flag("--policy", "ask|auto|deny", "one policy for all tools, whatever they claim")
        case .trust:
            flag("--trust", "NAME", "believe what this server says of its tools (repeatable)")
        case .rounds: flag("--rounds", "N", "rounds of calls (6)")
        default: flag("--events", "jsonl", "every event as a line of JSON on stdout")
        }
    }

    private var hostGrammar: FlagGrammar {
        func flag(_ name: String, _ value: String?, _ summary: String) -> FlagGrammar {
            FlagGrammar(group: .host, names: [name], value: value, summary: summary)
        }
        return switch self {
        case .port: flag("--port", "PORT", "port of the page (0: any)")
        case .sandboxPort: flag("--sandbox-port", "PORT", "port of the views (0: any)")
        case .opens: flag("--open", nil, "open the page in the browser")
        case .staysClosed: flag("--no-open", nil, "open nothing (default)")
        case .csp: flag("--csp", "strict|compat|allow-wildcards", "what views may load (strict; repeatable)")
        case .allowDomains: flag("--allow-domains", "A,B", "views reach no other hosts than these")
        case .blockDomains: flag("--block-domains", "A,B", "views never reach these hosts")
        case .allowHosts: flag("--allow-hosts", "A,B", "servers are on no other hosts than these")
        case .approve: flag("--approve", "auto|ask|deny", "one policy for all calls, whatever tools claim")
        case .grant:
            flag("--grant", "A,B", "views may use: camera, microphone, geolocation, clipboardWrite")
        case .theme: flag("--theme", "auto|light|dark", "colours of the page (auto)")
        case .history: flag("--history", "FILE", "keep the calls in FILE, and show those of earlier runs")
        case .scan: flag("--scan", "A-B", "look for servers on these ports of this machine")
        default: flag("--config", "FILE", "servers of a file with \"mcpServers\"")
        }
    }

    private var transportGrammar: FlagGrammar {
        func flag(_ names: [String], _ value: String, _ summary: String) -> FlagGrammar {
            FlagGrammar(group: .transport, names: names, value: value, summary: summary)
        }
        return switch self {
        case .header: flag(["-H", "--header"], "K:V", "an extra HTTP header (repeatable)")
        case .bearerEnv:
            flag(
                ["--bearer-env"], "VAR", "bearer token from an environment variable")
        case .bearerFile: flag(["--bearer-file"], "FILE", "bearer token from a file")
        case .trustFile:
            flag(["--cacert"], "FILE", "trust these certificates (PEM) for https, not the system's")
        case .environment: flag(["-e", "--env"], "K=V", "environment of a program after -- (repeatable)")
        case .directory: flag(["-C", "--directory"], "DIR", "working directory of a program after --")
        case .protocolVersion: flag(["--protocol"], "auto|REVISION", "protocol revision (auto)")
        case .timeout: flag(["--timeout"], "TIME", "limit of silence, reset by progress (60s)")
        case .deadline: flag(["--deadline"], "TIME", "limit of the whole command (none)")
        default: flag(["--connect-timeout"], "TIME", "limit of connecting (10s)")
        }
    }

    private var provideGrammar: FlagGrammar {
        func flag(_ name: String, _ value: String?, _ summary: String) -> FlagGrammar {
            FlagGrammar(
                group: .other, names: [name], value: value, summary: summary)
        }
        return switch self {
        case .channel: flag("--channel", "NAME", "where the tools are offered (default)")
        case .clientID: flag("--client", "ID", "who offers them; the same at each start keeps their names")
        case .tokenFile:
            flag(
                "--token-file", "FILE",
                "the token of the daemon or of the channel; sockets of the same user need none")
        case .once: flag("--once", nil, "end with the connection; do not connect again")
        default: flag("--tool", "NAME", "offer a tool for trying it out (repeatable)")
        }
    }

    /// The name used in messages.
    var name: String { grammar.names.first ?? "" }

    static func named(_ text: String) -> Flag? { allCases.first { $0.grammar.names.contains(text) } }
}
