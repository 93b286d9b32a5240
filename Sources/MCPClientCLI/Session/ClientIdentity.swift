/// The name and version of this program, on the wire and at the terminal.
enum ClientIdentity {
    static let name = "mcp-client"
    static let version = "0.1.0"
}
