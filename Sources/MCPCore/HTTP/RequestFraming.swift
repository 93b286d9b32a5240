/// The framing of a request: where its body ends and whether the connection stays open, according to its
/// fields.
///
/// This is the strictest reading of RFC 9112, section 6.3: nothing is merged or repaired.
struct RequestFraming: Sendable {
    private var contentLength: Int?
    private var hasTransferEncoding = false
    private var closes = false
    private var expectsContinue = false

    /// Adds the value of one of the framing fields.
    mutating func note(_ field: KnownField, _ value: Range<Int>, _ view: ByteView) throws(HTTPError) {
        switch field {
        case .contentLength:
            if contentLength != nil { throw .repeatedContentLength }
            contentLength = try view.contentLength(value)
        case .transferEncoding:
            if hasTransferEncoding { throw .repeatedTransferEncoding }
            try view.checkIsChunked(value)
            hasTransferEncoding = true
        case .connection:
            if view.listHas("close", value) { closes = true }
        case .expect:
            guard !expectsContinue, view.equals(value, "100-continue") else { throw .unsupportedExpectation }
            expectsContinue = true
        default: break
        }
    }

    /// Performs the checks that need the whole head, and writes the outcome into it.
    @inline(__always)
    func finish(_ head: inout RequestHead, _ view: ByteView, maxBody: Int) throws(HTTPError) {
        if hasTransferEncoding {
            if contentLength != nil { throw .transferEncodingWithContentLength }
            if head.version == .http10 { throw .transferEncodingInHTTP10 }
        }
        try checkHost(head, view)
        if let length = contentLength, length > maxBody { throw .bodyTooLarge }
        head.contentLength = contentLength
        head.isChunked = hasTransferEncoding
        // An HTTP/1.0 request is served and the connection closed; 1.0 does not have 100 (RFC 9110, section
        // 10.1.1).
        head.keepAlive = !closes && head.version == .http11
        head.expectsContinue = expectsContinue && head.hasBody && head.version == .http11
    }

    /// Checks that there is exactly one valid Host, which HTTP/1.0 may omit (RFC 9112, section 3.2).
    @inline(__always)
    private func checkHost(_ head: RequestHead, _ view: ByteView) throws(HTTPError) {
        guard let host = head.range(.host) else {
            if head.version == .http11 { throw .missingHost }
            return
        }
        if head.isRepeated(.host) { throw .repeatedHost }
        guard Authority.isValid(view, host) else { throw .malformedHost }
        guard head.authority.isPresent else { return }
        guard unsafe ASCII.equalsIgnoringCase(view[head.authority.range], view[host]) else {
            throw .hostMismatch
        }
    }
}

extension ByteView {
    /// Returns the value of a Content-Length, which must be one or more digits and nothing else.
    func contentLength(_ value: Range<Int>) throws(HTTPError) -> Int {
        var length = 0
        if value.isEmpty { throw .malformedContentLength }
        for index in value {
            guard ASCII.isDigit(self[index]) else { throw .malformedContentLength }
            let (tens, overflow) = length.multipliedReportingOverflow(by: 10)
            // Small: a digit.
            let (sum, carry) = tens.addingReportingOverflow(Int(self[index] - 0x30))
            if overflow || carry { throw .malformedContentLength }
            length = sum
        }
        return length
    }

    /// Throws unless the only transfer coding is `chunked`.
    ///
    /// A list whose last coding is not exactly `chunked` cannot be framed (400). A list that can be framed
    /// but includes an unsupported coding gives 501, and so does a single unknown coding (RFC 9112, sections
    /// 6.1 and 6.3).
    func checkIsChunked(_ value: Range<Int>) throws(HTTPError) {
        if equals(value, "chunked") { return }
        var count = 0
        var chunked = 0
        var endsChunked = false
        var areTokens = true
        forEachElement(value) { element in
            endsChunked = equals(element, "chunked")
            count += 1
            chunked += endsChunked ? 1 : 0
            areTokens = areTokens && !element.isEmpty && element.allSatisfy { ASCII.isToken(self[$0]) }
        }
        let isFramed = count > 1 && chunked == 1 && endsChunked
        let isUnknownAlone = count == 1 && chunked == 0
        throw areTokens && (isFramed || isUnknownAlone) ? .unknownTransferCoding : .malformedTransferEncoding
    }

    /// Whether the comma-separated list at `value` contains the element `token`, ignoring case.
    func listHas(_ token: StaticString, _ value: Range<Int>) -> Bool {
        var isFound = false
        forEachElement(value) { isFound = isFound || equals($0, token) }
        return isFound
    }

    /// Calls `body` with each element of a list, without the whitespace around it.
    ///
    /// A separator inside a quoted string (RFC 9110, section 5.6.4) does not count.
    func forEachElement(_ value: Range<Int>, separator: UInt8 = 0x2C, _ body: (Range<Int>) -> Void) {
        var start = value.lowerBound
        while true {
            var end = start
            while end < value.upperBound, self[end] != separator {
                end = self[end] == 0x22 ? endOfQuoted(end, value.upperBound) : end + 1
            }
            body(trimmed(start ..< end))
            if end == value.upperBound { return }
            start = end + 1
        }
    }

    /// Returns the offset after the quoted string at `start`, or `limit` if the string does not end.
    private func endOfQuoted(_ start: Int, _ limit: Int) -> Int {
        var index = start + 1
        while index < limit, self[index] != 0x22 { index += self[index] == 0x5C ? 2 : 1 }
        return min(index + 1, limit)
    }

    /// Returns `range` without the blanks at its ends.
    @inline(__always)
    func trimmed(_ range: Range<Int>) -> Range<Int> {
        var first = range.lowerBound
        var last = range.upperBound
        while first < last, ASCII.isBlank(self[first]) { first += 1 }
        while last > first, ASCII.isBlank(self[last - 1]) { last -= 1 }
        return first ..< last
    }
}
