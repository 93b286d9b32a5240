/// An event on the connection, for `--verbose` and for logs.
///
/// Header values that may be secret are masked, and so are the client's own credentials wherever they occur;
/// other secrets in bodies are not.
public enum TraceEvent: Sendable {
    /// A message was sent.
    case sent(method: String, bytes: ByteSlice)
    /// A message was received; it is not yet known whether a caller is waiting for it.
    case received(bytes: ByteSlice)
    /// The head of an HTTP request, with secrets masked.
    case httpRequest(head: String)
    /// The head of an HTTP response, with secrets masked.
    case httpResponse(status: Int, head: String)
    /// The data received is not a message, or no caller waits for it. The connection continues.
    case garbage(String)
    /// An error of the server that is skipped, such as a tool that cannot be called.
    case warning(String)
    /// A line that the program wrote to stderr.
    case stderr(String)
}
