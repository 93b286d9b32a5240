/// What this program calls itself, on the wire and at the terminal.
enum ClientIdentity {
    static let name = "mcp-client"
    static let version = "0.1.0"
}
