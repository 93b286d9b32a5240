/// Something that happened on the connection, for `--verbose` and for logs.
///
/// Values of headers that may be secret are masked; bodies are not.
public enum TraceEvent: Sendable {
    /// A message left.
    case sent(method: String, bytes: ByteSlice)
    /// A message came; it is not yet known whether anybody waits for it.
    case received(bytes: ByteSlice)
    /// The head of an HTTP request, with secrets masked.
    case httpRequest(head: String)
    /// The head of an HTTP answer, with secrets masked.
    case httpResponse(status: Int, head: String)
    /// What came is no message, or one that nobody waits for. The connection goes on.
    case garbage(String)
    /// Something that the server does wrong and that is left out, such as a tool that cannot be called.
    case warning(String)
    /// A line that the program wrote to stderr.
    case stderr(String)
}
