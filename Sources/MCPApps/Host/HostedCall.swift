public import MCPCore
public import MCPHarness

/// A call of a tool at an `AppHost`, from the request to the end.
public struct HostedCall: Sendable, Identifiable {
    /// The stage that a call has reached.
    public enum State: String, Sendable, Hashable {
        /// The call has not been sent yet: its arguments are being checked, or the user is being asked.
        case queued
        /// The server is processing the call.
        case calling
        /// The server is processing the call, or has finished, and the view is being loaded.
        case loadingUI = "loading-ui"
        /// The view is ready; the server is still processing the call.
        case ready
        /// The server responded.
        case completed
        /// The tool failed, or there was no response.
        case failed = "error"
        /// The call was not allowed.
        case denied
        /// The call was cancelled.
        case cancelled

        /// Whether the call has ended.
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

    /// The id of the call in its host.
    public let id: HostID<HostedCall>
    /// The server, or the view that offers the tool.
    public let source: Source
    /// The tool's name.
    public let tool: String
    /// The arguments as they are sent.
    public internal(set) var arguments: JSONValue
    /// The caller that requested it.
    public let requestedBy: ToolCaller
    /// The view that called, if one did.
    public let callingView: HostedView.ID?
    /// The call that this view showed: the view may be closed since, and another one opened.
    package let callingCall: HostedCall.ID?
    /// The current state.
    public internal(set) var state: State = .queued
    /// The last progress that the server reported.
    public internal(set) var progress: ProgressReport?
    /// The view that shows the call.
    public internal(set) var view: HostedView.ID?
    /// Whether the view's document is being read.
    public internal(set) var isLoadingView = false
    /// Whether the view can be shown (again): the tool has one, and it is neither open nor being read.
    public internal(set) var canShowView = false
    /// The server's result.
    public internal(set) var result: CallToolResult?
    /// The reason why there is no result, or no view, for a person.
    public internal(set) var problem: String?
    /// The time of the request (UTC, RFC 3339).
    public let time: String
    /// The time that the call took, once it has ended.
    public internal(set) var duration: Duration?
}

/// A call that has ended, as the history keeps it.
public struct HistoryEntry: Sendable, Identifiable {
    /// The entry as one JSON object.
    public let json: JSONObject

    /// Reads a stored entry, or returns `nil` if the JSON is not one.
    public init?(json: JSONValue) {
        guard let object = json.objectValue, object["id"]?.stringValue != nil,
            object["tool"]?.stringValue != nil, object["server"]?.stringValue != nil
        else { return nil }
        self.json = object
    }

    /// - Parameter callingTool: the tool whose view made the call.
    init(_ call: HostedCall, server: String, callingTool: String? = nil, resource: UIResource?) {
        var object: JSONObject = [
            "id": .string("\(call.time)-\(call.id)"), "time": .string(call.time), "server": .string(server),
            "tool": .string(call.tool),
            "arguments": call.requestedBy == .user ? call.arguments : Self.short(call.arguments),
            "by": .string(call.requestedBy.word), "state": .string(call.state.rawValue),
        ]
        if let callingTool { object["view"] = .string(callingTool) }
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
        return size <= maxPartBytes ? json : .string("\(size) bytes, too large for the history")
    }

    /// The largest size of a result, and of arguments from a view or a model, that is kept: 64 KiB.
    static let maxPartBytes = 64 << 10

    /// The id of the entry.
    public var id: String { json["id"]?.stringValue ?? "" }
    /// The name of the server.
    public var server: String { json["server"]?.stringValue ?? "" }
    /// The name of the tool.
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
    /// The caller in one word: `model`, `view` or `user`.
    var word: String {
        switch self {
        case .model: "model"
        case .view: "view"
        case .user: "user"
        }
    }
}
