/// Flags for a model and the servers whose tools it may use.
enum AgentFlag: Sendable, CaseIterable {
    case server, model, modelCommand, modelKey, policy, trust, rounds, events
    case allow, ask, deny, system, parameter, goOn, conversation

    var row: FlagRow {
        switch self {
        case .server:
            FlagRow(
                "--server", value: "NAME=TARGET",
                summary: "another server, with a name of your choice (repeatable)")
        case .model:
            FlagRow(
                "--model", value: "openai:URL,NAME", reads: .after("script:"),
                summary: "a model with a chat completions interface, or script:FILE")
        case .modelCommand:
            FlagRow("--model-command", value: "'PROGRAM ARGS'", summary: "a model that is a program")
        case .modelKey:
            FlagRow(
                "--model-key-env", value: "VAR", summary: "the model's key, from an environment variable")
        case .policy:
            FlagRow(
                "--policy", value: "ask|auto|deny", summary: "one policy for all tools, whatever they claim")
        case .trust:
            FlagRow(
                "--trust", value: "NAME",
                summary: "trust what this server claims about its tools (repeatable)")
        case .rounds: FlagRow("--rounds", value: "N", summary: "maximum rounds of tool calls (6)")
        case .events: FlagRow("--events", value: "jsonl", summary: "every event as a line of JSON on stdout")
        case .allow:
            FlagRow("--allow", value: "TOOL", summary: "run this tool without asking (repeatable)")
        case .ask: FlagRow("--ask", value: "TOOL", summary: "ask before this tool runs (repeatable)")
        case .deny:
            FlagRow(
                "--deny", value: "TOOL",
                summary: "never run this tool: NAME, SERVER/NAME or with * for any text (repeatable)")
        case .system:
            FlagRow(
                "--system", value: "TEXT|@FILE", reads: .after("@"),
                summary: "what the model is and how it should behave")
        case .parameter:
            FlagRow(
                "--param", value: "NAME=JSON",
                summary: "a parameter of the model, such as temperature=0.2 (repeatable)")
        case .goOn: FlagRow("--continue", summary: "go on with the last conversation")
        case .conversation:
            FlagRow(
                "--conversation", value: "FILE", reads: .whole,
                summary: "keep the conversation in this file, and go on with it")
        }
    }
}
