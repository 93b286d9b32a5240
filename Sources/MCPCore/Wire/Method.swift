/// The methods that this library knows, with the same name in every era.
enum Method: UInt8, Sendable {
    case discover, initialize, initialized, ping, cancelled
    case toolsList, toolsCall
    case resourcesList, resourceTemplatesList, resourcesRead
    case promptsList, promptsGet
    case complete, setLevel
    case listen, subscribe, unsubscribe, rootsListChanged
    case tasksGet, tasksUpdate, tasksCancel
}

extension Method {
    /// The name on the wire, as a constant.
    var text: String {
        switch self {
        case .discover: "server/discover"
        case .initialize: "initialize"
        case .initialized: "notifications/initialized"
        case .ping: "ping"
        case .cancelled: "notifications/cancelled"
        case .toolsList: "tools/list"
        case .toolsCall: "tools/call"
        case .resourcesList: "resources/list"
        case .resourceTemplatesList: "resources/templates/list"
        case .resourcesRead: "resources/read"
        case .promptsList: "prompts/list"
        case .promptsGet: "prompts/get"
        case .complete: "completion/complete"
        case .setLevel: "logging/setLevel"
        case .listen: "subscriptions/listen"
        case .subscribe: "resources/subscribe"
        case .unsubscribe: "resources/unsubscribe"
        case .rootsListChanged: "notifications/roots/list_changed"
        case .tasksGet: "tasks/get"
        case .tasksUpdate: "tasks/update"
        case .tasksCancel: "tasks/cancel"
        }
    }
}

/// A row of an era's method table.
struct MethodEntry: Sendable {
    struct Flags: OptionSet, Sendable {
        let rawValue: UInt8
        /// A notification, which has no response.
        static let notification = Flags(rawValue: 1 << 0)
        /// Served before `initialize` in a legacy era.
        static let beforeInitialize = Flags(rawValue: 1 << 1)
        /// `params` must be present.
        static let needsParams = Flags(rawValue: 1 << 2)
        /// `Mcp-Name` repeats `params.name` (HDR-05).
        static let mirrorsName = Flags(rawValue: 1 << 3)
        /// `Mcp-Name` repeats `params.uri` (HDR-05).
        static let mirrorsURI = Flags(rawValue: 1 << 4)
        /// The result contains `ttlMs` and `cacheScope` where the revision has them (CACHE-01).
        static let cacheable = Flags(rawValue: 1 << 5)
        /// `Mcp-Name` repeats `params.taskId` (HDR-05).
        static let mirrorsTask = Flags(rawValue: 1 << 6)
        /// The response may contain questions, and the request is then repeated with the answers (MRTR-01,
        /// MRTR-02).
        static let asksForInput = Flags(rawValue: 1 << 7)
    }

    /// The capability that the server must offer; otherwise the method does not exist (JRPC-22).
    enum Capability: Sendable {
        case none, tools, resources, prompts, completions, tasks
        /// Anything that can change (SUB-15).
        case changes
    }

    let name: StaticString
    let method: Method
    let flags: Flags
    let capability: Capability

    init(
        _ name: StaticString, _ method: Method, _ flags: Flags = [], needs capability: Capability = .none
    ) {
        self.name = name
        self.method = method
        self.flags = flags
        self.capability = capability
    }
}

/// The methods of one era. A method that is not in the table does not exist in that era: -32601 by absence.
struct MethodTable: Sendable {
    private let entries: [MethodEntry]

    init(_ entries: [MethodEntry]) { self.entries = entries }

    /// Finds a method by length and bytes; a dozen rows need no hash table. `name` is the method's JSON text,
    /// with quotes. Encoders that escape the slash, as PHP's does, write `"tools\/list"`: the same name.
    @inline(__always)
    func entry(for name: ByteSlice) -> MethodEntry? {
        plainEntry(for: name) ?? escapedEntry(for: name)
    }

    @inline(__always)
    private func plainEntry(for name: ByteSlice) -> MethodEntry? {
        let length = name.count - 2
        guard length > 0 else { return nil }
        return unsafe name.withBytes { bytes -> MethodEntry? in
            guard let start = bytes.baseAddress else { return nil }
            for entry in entries where entry.name.utf8CodeUnitCount == length {
                if unsafe memoryEquals(start + 1, entry.name.utf8Start, length) { return entry }
            }
            return nil
        }
    }

    /// The longest name whose characters are all escaped, as in `\u0061`.
    private static let longestEscaped = 6 * 40 + 2

    @inline(never)
    private func escapedEntry(for name: ByteSlice) -> MethodEntry? {
        guard name.count <= Self.longestEscaped, name.contains(UInt8(ascii: "\\")),
            let text = RawJSON(unchecked: name).string
        else { return nil }
        return plainEntry(for: ByteSlice("\"\(text)\""))
    }
}
