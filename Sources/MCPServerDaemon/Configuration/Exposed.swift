/// What `mcp-server expose` serves.
enum Exposed: Sendable, Hashable {
    /// A program that is an MCP server on standard input and output, with the environment of this process.
    case program([String])
    /// An MCP server over HTTP.
    case server(url: String)
    /// The files of a directory.
    case directory(String)
}
