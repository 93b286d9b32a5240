public import MCPCore
public import MCPHarness

/// A call of a tool at an `AppHost`, from the wish to the end.
public struct HostedCall: Sendable, Identifiable {
    /// How far a call has come.
    public enum State: String, Sendable, Hashable {
        /// Not sent yet: its arguments are checked, or the user is asked.
        case queued
        /// The server is at work.
        case calling
        /// The server is at work, or done, and the view is on its way.
        case loadingUI = "loading-ui"
        /// The view is there; the server is still at work.
        case ready
        /// The server answered.
        case completed
        /// The tool failed, or there was no answer.
        case failed = "error"
        /// It was not allowed.
        case denied
        /// It was given up.
        case cancelled

        /// Whether nothing more will happen.
        public var isOver: Bool {
            switch self {
            case .completed, .failed, .denied, .cancelled: true
            case .queued, .calling, .loadingUI, .ready: false
            }
        }
    }

    /// The side that offers the tool.
    public enum Source: Sendable, Hashable {
        /// A server.
        case server(HostedServer.ID)
        /// A view that offers tools of its own.
        case view(HostedView.ID)

        /// The identifier as text.
        public var rawValue: String {
            switch self {
            case .server(let id): id.rawValue
            case .view(let id): id.rawValue
            }
        }

        var id: ToolSourceID { ToolSourceID(rawValue) }
    }

    /// Names the call in its host.
    public let id: HostID<HostedCall>
    /// The server, or the view whose tool it is.
    public let source: Source
    /// The tool's name.
    public let tool: String
    /// The arguments as they are sent.
    public internal(set) var arguments: JSONValue
    /// Who wants it.
    public let requestedBy: ToolCaller
    /// The view that called, when one did.
    public let callingView: HostedView.ID?
    /// How far it has come.
    public internal(set) var state: State = .queued
    /// What the server told last.
    public internal(set) var progress: Progress?
    /// The view that shows it.
    public internal(set) var view: HostedView.ID?
    /// What the server answered.
    public internal(set) var result: CallToolResult?
    /// Why there is no result, or no view, for a person.
    public internal(set) var problem: String?
    /// When it was wanted (UTC, RFC 3339).
    public let time: String
    /// How long it took, once it is over.
    public internal(set) var duration: Duration?
}

/// A call that is over, as the history keeps it.
public struct HistoryEntry: Sendable, Identifiable {
    /// The entry as one JSON object.
    public let json: JSONObject

    /// Reads an entry that was kept; nil when it is none.
    public init?(json: JSONValue) {
        guard let object = json.objectValue, object["id"]?.stringValue != nil,
            object["tool"]?.stringValue != nil, object["server"]?.stringValue != nil
        else { return nil }
        self.json = object
    }

    init(_ call: HostedCall, server: String, resource: UIResource?) {
        var object: JSONObject = [
            "id": .string("\(call.time)-\(call.id)"), "time": .string(call.time), "server": .string(server),
            "tool": .string(call.tool),
            "arguments": call.requestedBy == .user ? call.arguments : Self.short(call.arguments),
            "by": .string(call.requestedBy.word), "state": .string(call.state.rawValue),
        ]
        if let duration = call.duration { object["milliseconds"] = JSONValue(duration.milliseconds) }
        if let problem = call.problem { object["problem"] = Self.short(.string(problem)) }
        if let result = call.result?.json { object["result"] = Self.short(result) }
        if let resource {
            object["resource"] = ["uri": .string(resource.uri), "sha256": .string(resource.hash)]
        }
        json = object
    }

    private static func short(_ json: JSONValue) -> JSONValue {
        let size = json.serialized().utf8.count
        return size <= maxPartBytes ? json : .string("\(size) bytes, too long for the history")
    }

    /// A longer result, or longer arguments of a view or a model, are not kept: 64 KiB.
    static let maxPartBytes = 64 << 10

    /// Names the entry.
    public var id: String { json["id"]?.stringValue ?? "" }
    /// The name of the server.
    public var server: String { json["server"]?.stringValue ?? "" }
    /// The tool.
    public var tool: String { json["tool"]?.stringValue ?? "" }
    /// The arguments.
    public var arguments: JSONValue { json["arguments"] ?? [:] }
    /// The user interface that was shown: its address and its SHA-256.
    var resource: (uri: String, hash: String)? {
        guard let resource = json["resource"], let uri = resource["uri"]?.stringValue,
            let hash = resource["sha256"]?.stringValue
        else { return nil }
        return (uri, hash)
    }
}

extension ToolCaller {
    /// In one word: `model`, `view` or `user`.
    var word: String {
        switch self {
        case .model: "model"
        case .view: "view"
        case .user: "user"
        }
    }
}
