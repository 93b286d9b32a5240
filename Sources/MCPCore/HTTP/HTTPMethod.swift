/// The method of a request; `other` is any other valid token, which has no meaning here.
enum HTTPMethod: UInt8, Sendable {
    case get, post, put, delete, head, options, patch, trace, connect, other
}

/// The protocol version of a message.
enum HTTPVersion: UInt8, Sendable {
    case http10, http11
}
