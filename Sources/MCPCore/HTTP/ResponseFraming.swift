/// The framing of a response: where its body ends according to its fields (RFC 9112, section 6.3).
struct ResponseFraming: Sendable {
    private var contentLength: Int?
    private var hasTransferEncoding = false
    private var closes = false

    /// Adds a field line if it affects the framing of the message.
    mutating func note(_ line: FieldLine, _ view: ByteView) throws(HTTPError) {
        if view.equals(line.name, "content-length") {
            if contentLength != nil { throw .repeatedContentLength }
            contentLength = try view.contentLength(line.value)
        } else if view.equals(line.name, "transfer-encoding") {
            if hasTransferEncoding { throw .repeatedTransferEncoding }
            try view.checkIsChunked(line.value)
            hasTransferEncoding = true
        } else if view.equals(line.name, "connection"), view.listHas("close", line.value) {
            closes = true
        }
    }

    /// Performs the checks that need the whole head, and writes the outcome into it.
    func finish(_ head: inout ResponseHead, isHEAD: Bool, maxBody: Int) throws(HTTPError) {
        if hasTransferEncoding {
            if contentLength != nil { throw .transferEncodingWithContentLength }
            if head.version == .http10 { throw .transferEncodingInHTTP10 }
        }
        if isHEAD || head.status < 200 || head.status == 204 || head.status == 304 {
            head.body = .none
        } else if hasTransferEncoding {
            head.body = .chunked
        } else if let contentLength {
            if contentLength > maxBody { throw .bodyTooLarge }
            head.body = .length(contentLength)
        } else {
            head.body = .untilClose
        }
        head.keepAlive = !closes && head.version == .http11 && head.body != .untilClose
    }
}
