public import MCPCore

/// The identifier of a host's request in its machine.
public struct HostRequestID: Sendable, Hashable {
    let number: Int
}

/// A request from a host to a view (MCP Apps 2026-01-26 "App-Provided Tools", and `ping`).
public enum HostRequest: Sendable, Hashable {
    /// Checks whether the view is alive.
    case ping
    /// Requests the tools that the view offers.
    case listTools(cursor: String?)
    /// Calls one of them.
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

/// A list of the view's server whose changes are reported to the view.
public enum ServerList: String, Sendable, Hashable, CaseIterable {
    /// The server's tools.
    case tools
    /// The server's resources.
    case resources
    /// The server's prompts.
    case prompts
}
