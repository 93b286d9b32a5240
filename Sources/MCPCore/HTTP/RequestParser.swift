/// Parses request heads out of a connection's unread bytes.
///
/// Give it all unread bytes each time, from the first byte of the request on. After `head` it is ready for
/// the next request: the caller consumes `byteCount` bytes and reads the body. After `failed` the connection
/// ends. What is accepted is stricter than RFC 9112 allows: whatever two readers could understand differently
/// is refused.
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

    /// Forgets what was read of a head.
    mutating func reset() {
        failure = nil
        scanner.restart()
        line = RequestLine()
        head = RequestHead()
        framing = RequestFraming()
    }

    /// Looks at the unread bytes and says what can be said about the request they begin.
    mutating func parse(_ bytes: UnsafeBufferPointer<UInt8>) -> Outcome {
        // What follows a fault is never parsed, even if asked for.
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
