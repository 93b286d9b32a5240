/// What a daemon accepted and refused of the tools that a client offers.
public struct ClientToolReport: Sendable, Hashable {
    /// A tool that is not offered.
    public struct Refusal: Sendable, Hashable {
        /// The tool's name, as the client sent it.
        public let name: String
        /// Why it is not offered, for people.
        public let reason: String
    }

    /// A tool that is offered under another name.
    public struct Renaming: Sendable, Hashable {
        /// The tool's name, as the client sent it.
        public let name: String
        /// The name under which agents see it.
        public let shown: String
        /// Why it does not keep its name, for people.
        public let reason: String
    }

    /// The names under which agents see the tools; `greet__phone` for a tool whose name another client has.
    public let tools: [String]
    /// The tools that are not offered.
    public let refused: [Refusal]
    /// The tools in `tools` that did not keep their names.
    public let renamed: [Renaming]
    /// Why nothing was registered; nil if the registration was accepted.
    public let problem: String?

    init(
        tools: [String] = [], refused: [Refusal] = [], renamed: [Renaming] = [], problem: String? = nil
    ) {
        self.tools = tools
        self.refused = refused
        self.renamed = renamed
        self.problem = problem
    }

    /// The method of the notification that a daemon sends to a client that asked for reports.
    static let method = VendorKey.prefix + "clientTools/registered"

    var params: JSONObject {
        var params: JSONObject = [
            "tools": .array(tools.map(JSONValue.string)),
            "refused": Self.json(refused),
        ]
        if !renamed.isEmpty {
            params["renamed"] = .array(
                renamed.map {
                    ["name": .string($0.name), "shown": .string($0.shown), "reason": .string($0.reason)]
                })
        }
        params["problem"] = problem.map(JSONValue.string)
        return params
    }

    static func json(_ refused: [Refusal]) -> JSONValue {
        .array(refused.map { ["name": .string($0.name), "reason": .string($0.reason)] })
    }

    /// Reads the report from a message; nil for any other message.
    init?(message: ByteSlice) {
        guard message.starts(with: Self.head), let json = try? JSONValue(parsing: message) else { return nil }
        let params = json["params"]
        tools = params?["tools"]?.arrayValue?.prefix(Self.maxEntries).compactMap(\.stringValue) ?? []
        refused = (params?["refused"]?.arrayValue ?? []).prefix(Self.maxEntries).compactMap { entry in
            guard let name = entry["name"]?.stringValue else { return nil }
            return Refusal(name: name, reason: entry["reason"]?.stringValue ?? "no reason given")
        }
        renamed = (params?["renamed"]?.arrayValue ?? []).prefix(Self.maxEntries).compactMap { entry in
            guard let name = entry["name"]?.stringValue, let shown = entry["shown"]?.stringValue else {
                return nil
            }
            return Renaming(
                name: name, shown: shown, reason: entry["reason"]?.stringValue ?? "no reason given")
        }
        problem = params?["problem"]?.stringValue
    }

    /// The beginning of the message, as daemons write it: most messages are not parsed.
    private static let head = Array(MessageEncoder.notification(method).array.dropLast())
    /// The tools and refusals that are read of a report.
    private static let maxEntries = 256
    /// The part of the name of a tool that is not offered that a report and a log show: 128 bytes.
    static let maxNameBytes = 128
    /// The refusals that a report names: 64. The last one then gives the number of the others.
    static let maxRefusals = 64

    /// Returns the refusals, shortened to the limit.
    static func shortened(_ refused: [Refusal]) -> [Refusal] {
        guard refused.count > maxRefusals else { return refused }
        let rest = refused.count - maxRefusals + 1
        return refused.prefix(maxRefusals - 1) + [Refusal(name: "…", reason: "\(rest) more are refused")]
    }
}
