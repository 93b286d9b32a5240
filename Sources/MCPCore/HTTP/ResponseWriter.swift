/// A writer for response heads, and for bodies whose length is known only afterwards.
enum ResponseWriter {
    /// The way in which the end of a body is indicated.
    enum Framing: Sendable, Hashable {
        /// Exactly this many bytes follow; 0 for an empty body.
        case length(Int)
        /// Chunks follow; not for HTTP/1.0.
        case chunked
        /// The body ends when the connection does, or the status has no body (204, 304).
        case none
    }

    /// Writes a whole head.
    ///
    /// `Connection: close` is written only when the connection is about to end. There is no Date field: RFC
    /// 9110, section 6.6.1, requires it from servers whose responses could be compared with cached ones, and
    /// these responses are never cached.
    static func writeHead(
        status: Int, contentType: StaticString? = nil, framing: Framing, keepAlive: Bool,
        extra: HeaderFields? = nil, to buffer: inout ByteBuffer
    ) {
        HTTPStatus.writeLine(status, to: &buffer)
        if let contentType {
            buffer.append("Content-Type: ")
            buffer.append(contentType)
            buffer.append("\r\n")
        }
        switch framing {
        case .length(let count):
            buffer.append("Content-Length: ")
            buffer.append(decimal: max(0, count))
            buffer.append("\r\n")
        case .chunked: buffer.append("Transfer-Encoding: chunked\r\n")
        case .none: break
        }
        writeEnd(keepAlive: keepAlive, extra: extra, to: &buffer)
    }

    /// Writes `100 Continue`; to be called after the head has passed its checks.
    static func writeContinue(to buffer: inout ByteBuffer) { buffer.append("HTTP/1.1 100 Continue\r\n\r\n") }

    /// Writes a whole response with a plain text body, for errors below JSON-RPC.
    ///
    /// - Parameters:
    ///   - isJSON: whether the text is JSON.
    ///   - withoutBody: whether to write only the head, which specifies how long the body would be; for HEAD.
    static func writeText(
        status: Int, _ text: String, isJSON: Bool = false, withoutBody: Bool = false, keepAlive: Bool,
        extra: HeaderFields? = nil, to buffer: inout ByteBuffer
    ) {
        let length = text.utf8.count + 1
        writeHead(
            status: status, contentType: isJSON ? "application/json" : "text/plain; charset=utf-8",
            framing: .length(length), keepAlive: keepAlive, extra: extra, to: &buffer)
        if withoutBody { return }
        buffer.append(utf8: text)
        buffer.append(ASCII.lf)
    }

    // MARK: Bodies written in place

    /// The position of a Content-Length that is not known yet, as an offset from the first unconsumed byte.
    ///
    /// Valid until something is consumed from the buffer.
    struct OpenResponse: Sendable {
        fileprivate let digits: Int
        /// The offset of the first byte of the head: the length to truncate to in order to remove the
        /// response.
        let start: Int
        /// The offset of the first byte of the body.
        let bodyStart: Int
    }

    /// Writes a head for `application/json` with room for the length; the caller then appends the body.
    ///
    /// The room is between the colon and the value, where RFC 9112, section 5, allows any whitespace:
    /// `Content-Length: 155`. Leading zeros would be legal too, but some readers interpret them as octal. A
    /// head written backwards from the body would not fit after an earlier response in the same buffer.
    static func beginJSON(
        status: Int = 200, keepAlive: Bool, extra: HeaderFields? = nil, in buffer: inout ByteBuffer
    ) -> OpenResponse {
        let start = buffer.count
        buffer.reserve(256)
        if status == 200, keepAlive, extra == nil {
            buffer.append(jsonHead)
            let end = buffer.count
            return OpenResponse(digits: end - 4, start: start, bodyStart: end)
        }
        HTTPStatus.writeLine(status, to: &buffer)
        buffer.append("Content-Type: application/json\r\nContent-Length:            ")
        let digits = buffer.count
        buffer.append("\r\n")
        writeEnd(keepAlive: keepAlive, extra: extra, to: &buffer)
        return OpenResponse(digits: digits, start: start, bodyStart: buffer.count)
    }

    /// Writes the length of what was appended since `beginJSON`.
    static func finish(_ response: OpenResponse, in buffer: inout ByteBuffer) {
        let length = buffer.count - response.bodyStart
        // The room is 10 digits wide; a body that exceeds it would exceed the memory limits.
        precondition(length >= 0 && length <= 9_999_999_999, "response body out of range")
        unsafe withUnsafeTemporaryAllocation(of: UInt8.self, capacity: 10) { digits in
            var place = 10
            var rest = length
            repeat {
                place -= 1
                unsafe digits[place] = 0x30 + UInt8(truncatingIfNeeded: rest % 10)
                rest /= 10
            } while rest > 0
            let written = unsafe UnsafeBufferPointer(rebasing: digits[place ..< 10])
            unsafe buffer.overwrite(at: response.digits - written.count, with: written)
        }
    }

    /// The head of nearly every response; it ends with 10 bytes of room and CR LF CR LF.
    private static var jsonHead: StaticString {
        "HTTP/1.1 200 OK\r\nContent-Type: application/json\r\nContent-Length:            \r\n\r\n"
    }

    private static func writeEnd(keepAlive: Bool, extra: HeaderFields?, to buffer: inout ByteBuffer) {
        if let extra {
            for field in extra {
                buffer.append(utf8: field.name)
                buffer.append(": ")
                buffer.append(utf8: field.value)
                buffer.append("\r\n")
            }
        }
        buffer.append(keepAlive ? "\r\n" : "Connection: close\r\n\r\n")
    }
}
