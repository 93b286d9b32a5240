/// A parser for response heads, for a client; as strict as `RequestParser`.
///
/// Pass all unread bytes each time. Interim responses (1xx) are skipped but included in `byteCount`.
struct ResponseParser: Sendable {
    enum Outcome: Sendable {
        case needMore
        case head(ResponseHead)
        case failed(HTTPError)
    }

    /// The maximum number of interim responses before the final one.
    private static let maxInterim = 8

    private let maxBody: Int
    private var scanner: HeadScanner
    private var failure: HTTPError?
    private var head = ResponseHead()
    private var framing = ResponseFraming()
    private var interim = 0

    init(limits: HTTPLimits = HTTPLimits()) {
        maxBody = limits.maxBodyBytes
        scanner = HeadScanner(limits)
    }

    /// Parses the unread bytes; `isHEAD` is true if the request was HEAD, whose response has no body.
    mutating func parse(_ bytes: UnsafeBufferPointer<UInt8>, isHEAD: Bool = false) -> Outcome {
        // Bytes after a fault are never parsed, even on another call.
        if let failure { return .failed(failure) }
        let view = unsafe ByteView(bytes)
        do {
            guard let head = try next(view, isHEAD: isHEAD) else { return .needMore }
            return .head(head)
        } catch {
            failure = error
            return .failed(error)
        }
    }

    private mutating func next(_ view: ByteView, isHEAD: Bool) throws(HTTPError) -> ResponseHead? {
        while true {
            if !scanner.hasStartLine {
                let isComplete = try scanner.startLine(view) { (line, start, searched) throws(HTTPError) in
                    try head.parseStatusLine(line, at: start, searched: searched)
                }
                guard isComplete else { return nil }
            }
            guard let end = try readFields(view) else { return nil }
            head.byteCount = end
            try framing.finish(&head, isHEAD: isHEAD, maxBody: maxBody)
            let finished = head
            head = ResponseHead()
            framing = ResponseFraming()
            if finished.status >= 200 {
                scanner.restart()
                interim = 0
                return finished
            }
            // The client never requests another protocol, so 101 is a fault of the server.
            if finished.status == 101 { throw .unexpectedSwitch }
            interim += 1
            if interim > Self.maxInterim { throw .tooManyInterimAnswers }
            scanner.restart(at: end)
        }
    }

    /// Reads the field lines; returns the end of the head, or nil while it is incomplete.
    private mutating func readFields(_ view: ByteView) throws(HTTPError) -> Int? {
        while true {
            switch try scanner.nextField(view, isKnown: { _ in false }) {
            case .needMore: return nil
            case .end(let end): return end
            case .field(let line):
                if let field = ResponseHead.Field(view, line.name) {
                    head.note(field, line.value)
                } else {
                    try framing.note(line, view)
                }
            }
        }
    }
}

extension ResponseHead.Field {
    fileprivate init?(_ view: ByteView, _ name: Range<Int>) {
        if view.equals(name, "content-type") {
            self = .contentType
        } else if view.equals(name, "content-encoding") {
            self = .contentEncoding
        } else if view.equals(name, "location") {
            self = .location
        } else if view.equals(name, "www-authenticate") {
            self = .wwwAuthenticate
        } else if view.equals(name, "retry-after") {
            self = .retryAfter
        } else if view.equals(name, "mcp-session-id") {
            self = .mcpSessionID
        } else if view.equals(name, "keep-alive") {
            self = .keepAlive
        } else {
            return nil
        }
    }
}

extension ResponseHead {
    /// Parses `HTTP/1.x SP 3DIGIT [ SP TEXT ] CR LF` (RFC 9112, section 4); nil while the line is incomplete.
    fileprivate mutating func parseStatusLine(
        _ view: ByteView, at start: Int, searched: Int
    ) throws(HTTPError) -> Int? {
        self.start = start
        let version: HTTPVersion?
        do { version = try HTTPVersion(view, at: start) } catch {
            throw error == .unsupportedVersion ? error : .malformedStatusLine
        }
        guard let version else { return nil }
        self.version = version
        var code = 0
        for offset in 8 ..< 12 {
            guard start + offset < view.count else { return nil }
            let byte = view[start + offset]
            guard offset == 8 ? byte == ASCII.space : ASCII.isDigit(byte) else { throw .malformedStatusLine }
            // Small: at most the third digit.
            if offset > 8 { code = code * 10 + Int(byte - 0x30) }
        }
        guard start + 12 < view.count else { return nil }
        guard (100 ... 599).contains(code), view[start + 12] == ASCII.space || view[start + 12] == ASCII.cr
        else {
            throw .malformedStatusLine
        }
        status = code
        return try view.fieldEnd(from: max(start + 12, searched)).map { $0 + 2 }
    }
}
