public import MCPCore

/// Names a request of the host at its machine.
public struct HostRequestID: Sendable, Hashable {
    let number: Int
}

/// What a host asks of a view (MCP Apps 2026-01-26 "App-Provided Tools", and `ping`).
public enum HostRequest: Sendable, Hashable {
    /// Is the view alive?
    case ping
    /// Which tools does it offer?
    case listTools(cursor: String?)
    /// Call one of them.
    case callTool(name: String, arguments: JSONObject)

    var method: String {
        switch self {
        case .ping: "ping"
        case .listTools: "tools/list"
        case .callTool: "tools/call"
        }
    }

    var params: JSONObject {
        switch self {
        case .ping: [:]
        case .listTools(let cursor): cursor.map { ["cursor": .string($0)] } ?? [:]
        case .callTool(let name, let arguments):
            ["name": .string(name), "arguments": .object(arguments)]
        }
    }
}

/// A list of the view's server of which the view hears when it changes.
public enum ServerList: String, Sendable, Hashable, CaseIterable {
    /// Its tools.
    case tools
    /// Its resources.
    case resources
    /// Its prompts.
    case prompts
}
