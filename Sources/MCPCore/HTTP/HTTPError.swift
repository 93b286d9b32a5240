/// A reason to refuse a message before any layer above HTTP sees it.
///
/// After each of these errors, the position of the next message is unknown or cannot be trusted, so a
/// response with `status` is sent and the connection is closed.
enum HTTPError: Error, Sendable, Hashable, CaseIterable {
    // The start line
    case notHTTP, malformedRequestLine, malformedTarget, missingVersion, unsupportedVersion
    case requestLineTooLong, methodTooLong, malformedStatusLine
    // Field lines
    case bareCarriageReturn, bareLineFeed, controlCharacter, lineFolding, malformedFieldName, spaceBeforeColon
    case headersTooLarge, tooManyFields
    // Framing
    case malformedContentLength, repeatedContentLength, malformedTransferEncoding, repeatedTransferEncoding
    case unknownTransferCoding, transferEncodingWithContentLength, transferEncodingInHTTP10
    case unsupportedExpectation, bodyTooLarge
    case malformedChunkSize, chunkSizeOverflow, malformedChunk, chunkExtensionsTooLong
    // Host
    case missingHost, repeatedHost, malformedHost, hostMismatch
    // Responses, read by a client
    case unexpectedSwitch, tooManyInterimAnswers, truncatedBody, eventTooLarge

    /// The status of the response, or 502 for errors that only a client can encounter.
    var status: Int {
        switch self {
        case .requestLineTooLong: 414
        case .headersTooLarge, .tooManyFields: 431
        case .bodyTooLarge: 413
        case .methodTooLong, .unknownTransferCoding: 501
        case .unsupportedVersion: 505
        case .unsupportedExpectation: 417
        case .malformedStatusLine, .unexpectedSwitch, .tooManyInterimAnswers, .truncatedBody, .eventTooLarge:
            502
        default: 400
        }
    }

    /// Always true; see the type.
    var closesConnection: Bool { true }

    /// A description of the fault, for the body of the response or for a client's error.
    var reason: String {
        switch self {
        case .notHTTP: "this is not HTTP; if you meant https, use http:// or put a TLS proxy in front"
        case .malformedRequestLine: "the request line is not METHOD TARGET HTTP/1.1"
        case .malformedTarget: "the request target is not a path or is not valid for this method"
        case .missingVersion: "the request line has no version; HTTP/0.9 is not supported, use HTTP/1.1"
        case .unsupportedVersion: "only HTTP/1.1 and HTTP/1.0 are supported"
        case .requestLineTooLong: "the request line is too long"
        case .methodTooLong: "the method is unknown"
        case .malformedStatusLine: "the status line is not HTTP/1.1 CODE TEXT"
        case .bareCarriageReturn: "a carriage return is not followed by a line feed"
        case .bareLineFeed: "a line ends with a bare line feed; lines must end with CR LF"
        case .controlCharacter: "a field value contains a control character"
        case .lineFolding: "a field value is folded across several lines"
        case .malformedFieldName: "a field name is empty or contains an illegal character"
        case .spaceBeforeColon: "there is whitespace between a field name and its colon"
        case .headersTooLarge: "the header fields are too long in total"
        case .tooManyFields: "there are too many header fields"
        default: framingReason
        }
    }

    private var framingReason: String {
        switch self {
        case .malformedContentLength: "Content-Length is not a plain decimal number in range"
        case .repeatedContentLength: "Content-Length is given more than once"
        case .malformedTransferEncoding: "the last transfer coding is not exactly chunked"
        case .repeatedTransferEncoding: "Transfer-Encoding is given more than once"
        case .unknownTransferCoding: "chunked is the only transfer coding supported"
        case .transferEncodingWithContentLength: "Transfer-Encoding and Content-Length are mutually exclusive"
        case .transferEncodingInHTTP10: "HTTP/1.0 has no Transfer-Encoding"
        case .unsupportedExpectation: "100-continue is the only expectation supported"
        case .bodyTooLarge: "the body is too large"
        case .malformedChunkSize: "a chunk size is not a hexadecimal number followed by CR LF"
        case .chunkSizeOverflow: "a chunk size is out of range"
        case .malformedChunk: "a chunk is not followed by CR LF"
        case .chunkExtensionsTooLong: "the chunk extensions are too long"
        case .missingHost: "the Host field is missing"
        case .repeatedHost: "the Host field is given more than once"
        case .malformedHost: "the Host field is not HOST or HOST:PORT"
        case .hostMismatch: "the Host field differs from the authority of the request target"
        case .unexpectedSwitch: "the server switched to another protocol without being asked"
        case .tooManyInterimAnswers: "the server sent too many 1xx responses"
        case .truncatedBody: "the connection ended in the middle of the body"
        case .eventTooLarge: "a server-sent event is too large"
        default: "the message is malformed"
        }
    }
}
