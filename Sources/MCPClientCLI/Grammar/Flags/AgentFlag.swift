/// Flags for a model and the servers whose tools it may use.
enum AgentFlag: Sendable, CaseIterable {
    case server, model, modelCommand, modelKey, policy, trust, rounds, events

    var row: FlagRow {
        switch self {
        case .server:
            FlagRow(
                "--server", value: "NAME=TARGET",
                summary: "another server, with a name of your choice (repeatable)")
        case .model:
            FlagRow(
                "--model", value: "openai:URL,NAME",
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
        case .rounds: FlagRow("--rounds", value: "N", summary: "rounds of calls (6)")
        case .events: FlagRow("--events", value: "jsonl", summary: "every event as a line of JSON on stdout")
        }
    }
}
