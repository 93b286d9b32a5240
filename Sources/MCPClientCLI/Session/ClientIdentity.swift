import MCPCore

/// The name and version of this program, on the wire and at the terminal.
enum ClientIdentity {
    static let name = "mcp-client"
    static let version = PackageVersion.current
}
