/// Flags of `provide`.
enum ProvideFlag: Sendable, CaseIterable {
    case channel, clientID, tokenFile, once, demoTool

    var row: FlagRow {
        switch self {
        case .channel:
            FlagRow("--channel", value: "NAME", summary: "the channel in which to offer the tools (default)")
        case .clientID:
            FlagRow(
                "--client", value: "ID",
                summary: "id of this client; the same id at each start keeps the tools' names")
        case .tokenFile:
            FlagRow(
                "--token-file", value: "FILE", reads: .whole,
                summary: "the token of the daemon or of the channel; sockets of the same user need none")
        case .once: FlagRow("--once", summary: "end with the connection; do not connect again")
        case .demoTool:
            FlagRow(
                "--tool", value: "NAME", kind: .choices(DemoTool.allCases.map(\.rawValue)),
                summary: "offer a demonstration tool (repeatable)")
        }
    }
}

extension Options {
    mutating func apply(_ flag: ProvideFlag, _ value: FlagValue) throws(Failure) {
        switch flag {
        case .channel: channel = try value.nonEmpty()
        case .clientID: clientID = try value.nonEmpty()
        case .tokenFile: tokenFile = try value.nonEmpty()
        case .once: isOnce = true
        case .demoTool: demoTools.append(try DemoTool(parsing: value.text))
        }
    }
}
