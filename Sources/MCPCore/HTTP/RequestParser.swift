/// A parser for request heads in a connection's unread bytes.
///
/// Pass all unread bytes each time, starting with the first byte of the request. After `head`, the parser is
/// ready for the next request: the caller consumes `byteCount` bytes and reads the body. After `failed`, the
/// connection must end. The parser is stricter than RFC 9112 requires: it refuses anything that two readers
/// could interpret differently.
struct RequestParser: Sendable {
    enum Outcome: Sendable {
        case needMore
        case head(RequestHead)
        case failed(HTTPError)
    }

    private let maxBody: Int
    private var scanner: HeadScanner
    private var failure: HTTPError?
    private var line = RequestLine()
    private var head = RequestHead()
    private var framing = RequestFraming()

    init(limits: HTTPLimits = HTTPLimits()) {
        maxBody = limits.maxBodyBytes
        scanner = HeadScanner(limits)
    }

    /// The head that was refused, if it had arrived as a whole; nil if not even its end is known.
    var failedHead: RequestHead? { failure != nil && head.byteCount > 0 ? head : nil }

    /// Discards the state of a partly read head.
    mutating func reset() {
        failure = nil
        scanner.restart()
        line = RequestLine()
        head = RequestHead()
        framing = RequestFraming()
    }

    /// Forgets the empty line before a request when nothing else has arrived; returns false otherwise. The
    /// caller discards its bytes, so that nothing is left of it.
    ///
    /// - Parameter count: the number of unread bytes that were parsed.
    mutating func forgetEmptyLine(_ count: Int) -> Bool {
        guard scanner.isAfterEmptyLine, count == scanner.lineStart else { return false }
        reset()
        scanner.forbidEmptyLine()
        return true
    }

    /// Parses the unread bytes and returns what is known about the request at their start.
    mutating func parse(_ bytes: UnsafeBufferPointer<UInt8>) -> Outcome {
        // Bytes after a fault are never parsed, even on another call.
        if let failure { return .failed(failure) }
        let view = unsafe ByteView(bytes)
        do {
            guard let head = try next(view) else { return .needMore }
            return .head(head)
        } catch {
            failure = error
            return .failed(error)
        }
    }

    @inline(__always)
    private mutating func next(_ view: ByteView) throws(HTTPError) -> RequestHead? {
        if !scanner.hasStartLine {
            guard try scanner.skipEmptyLine(view) else { return nil }
            let isComplete = try scanner.startLine(view) { (view, start, searched) throws(HTTPError) in
                try line.parse(view, at: start, searched: searched, into: &head)
            }
            guard isComplete else { return nil }
        }
        while true {
            var known = KnownField.other
            let step = try scanner.nextField(view) { name in
                known = KnownField(view, name)
                return known != .other && known != .mcpParam
            }
            switch step {
            case .needMore: return nil
            case .field(let line): try note(known, line, view)
            case .end(let end):
                head.byteCount = end
                try framing.finish(&head, view, maxBody: maxBody)
                defer { reset() }
                return head
            }
        }
    }

    @inline(__always)
    private mutating func note(_ known: KnownField, _ line: FieldLine, _ view: ByteView) throws(HTTPError) {
        if let field = known.field {
            head.note(field, line.value)
        } else if known == .mcpParam {
            head.hasMCPParams = true
        } else if known != .other {
            try framing.note(known, line.value, view)
        }
    }
}
