/// A parser for `METHOD SP TARGET SP HTTP/1.x CR LF` (RFC 9112, section 3) that continues where it stopped.
struct RequestLine: Sendable {
    /// The maximum length of a method; the registered methods have at most 17 letters.
    private static let maxMethodBytes = 32

    /// The bounds of the target, each 0 until the method or the target is complete.
    private var targetStart = 0
    private var targetEnd = 0
    /// The offset of the first `?`, or 0.
    private var queryStart = 0

    /// Returns the offset after the line at `start`, or nil while the line is incomplete; the target was
    /// already checked up to `searched`.
    @inline(__always)
    mutating func parse(
        _ view: ByteView, at start: Int, searched: Int, into head: inout RequestHead
    ) throws(HTTPError) -> Int? {
        if targetEnd == 0 {
            if targetStart == 0 {
                guard let end = try methodEnd(view, start) else { return nil }
                head.method = HTTPMethod(view, start ..< end)
                head.methodRange = HeadPart(start ..< end)
                targetStart = end + 1
            }
            guard try findTargetEnd(view, from: max(targetStart, searched)) else { return nil }
            let pathEnd = queryStart == 0 ? targetEnd : queryStart
            try head.noteTarget(view, targetStart ..< targetEnd, pathEnd: pathEnd)
        }
        guard let version = try HTTPVersion(view, at: targetEnd + 1) else { return nil }
        head.version = version
        return try view.lineEnd(at: targetEnd + 9)
    }

    @inline(__always)
    private func methodEnd(_ view: ByteView, _ start: Int) throws(HTTPError) -> Int? {
        var index = start
        while index < view.count, ASCII.isToken(view[index]) {
            if index - start == Self.maxMethodBytes { throw .methodTooLong }
            index += 1
        }
        guard index < view.count else { return nil }
        let byte = view[index]
        guard index > start else { throw byte < 0x20 || byte > 0x7E ? .notHTTP : .malformedRequestLine }
        guard byte == ASCII.space else { throw .malformedRequestLine }
        return index
    }

    /// Looks for the space after the target; returns false until it has arrived.
    @inline(__always)
    private mutating func findTargetEnd(_ view: ByteView, from start: Int) throws(HTTPError) -> Bool {
        var index = start
        while index < view.count {
            let byte = view[index]
            if byte == 0x3F, queryStart == 0 { queryStart = index }
            // Visible ASCII except `#`, since a fragment is never sent.
            guard byte > 0x20, byte < 0x7F, byte != 0x23 else { break }
            index += 1
        }
        guard index < view.count else { return false }
        guard index > targetStart else { throw .malformedRequestLine }
        guard view[index] == ASCII.space else {
            throw view[index] == ASCII.cr ? .missingVersion : .malformedRequestLine
        }
        targetEnd = index
        return true
    }
}

extension RequestHead {
    /// Distinguishes the four forms of a target (RFC 9112, section 3.2).
    @inline(__always)
    fileprivate mutating func noteTarget(_ view: ByteView, _ whole: Range<Int>, pathEnd: Int)
        throws(HTTPError)
    {
        target = HeadPart(whole)
        if view[whole.lowerBound] == 0x2F, method != .connect {
            path = HeadPart(whole.lowerBound ..< pathEnd)
            return
        }
        try noteUnusualTarget(view, whole, pathEnd: pathEnd)
    }

    private mutating func noteUnusualTarget(
        _ view: ByteView, _ whole: Range<Int>, pathEnd: Int
    ) throws(HTTPError) {
        let start = whole.lowerBound
        let none = HeadPart(whole.upperBound ..< whole.upperBound)
        if method == .connect {
            guard Authority.isValid(view, whole) else { throw .malformedTarget }
            path = none
        } else if whole.count == 1, view[start] == 0x2A, method == .options {
            path = none
        } else if let schemeEnd = view.schemeEnd(whole) {
            var end = schemeEnd
            while end < pathEnd, view[end] != 0x2F { end += 1 }
            guard Authority.isValid(view, schemeEnd ..< end) else { throw .malformedTarget }
            authority = HeadPart(schemeEnd ..< end)
            path = HeadPart(end ..< pathEnd)
        } else {
            throw .malformedTarget
        }
    }
}

extension HTTPMethod {
    /// Creates a method from its name, which is case-sensitive (RFC 9110, section 9.1).
    @inline(__always)
    init(_ view: ByteView, _ name: Range<Int>) {
        switch name.count {
        case 3 where view.equalsExactly(name, "GET"): self = .get
        case 3 where view.equalsExactly(name, "PUT"): self = .put
        case 4 where view.equalsExactly(name, "POST"): self = .post
        case 4 where view.equalsExactly(name, "HEAD"): self = .head
        case 5 where view.equalsExactly(name, "PATCH"): self = .patch
        case 5 where view.equalsExactly(name, "TRACE"): self = .trace
        case 6 where view.equalsExactly(name, "DELETE"): self = .delete
        case 7 where view.equalsExactly(name, "OPTIONS"): self = .options
        case 7 where view.equalsExactly(name, "CONNECT"): self = .connect
        default: self = .other
        }
    }
}

extension HTTPVersion {
    /// Reads `HTTP/1.1` or `HTTP/1.0` at `start`; nil while the version is incomplete.
    @inline(__always)
    init?(_ view: ByteView, at start: Int) throws(HTTPError) {
        if start <= view.count - 8 {
            // "HTTP/1.1" and "HTTP/1.0", with the first letter in the lowest bits.
            switch view.word(at: start) {
            case 0x312E_312F_5054_5448:
                self = .http11
                return
            case 0x302E_312F_5054_5448:
                self = .http10
                return
            default: break
            }
        }
        try Self.check(view, at: start)
        return nil
    }

    /// Throws the error for a version that is neither; returns while the version is incomplete.
    private static func check(_ view: ByteView, at start: Int) throws(HTTPError) {
        let pattern: StaticString = "HTTP/0.0"
        for offset in 0 ..< min(8, view.count - start) {
            let byte = view[start + offset]
            let wanted = unsafe pattern.utf8Start[offset]
            guard wanted == 0x30 ? ASCII.isDigit(byte) : byte == wanted else { throw .malformedRequestLine }
        }
        if start <= view.count - 8 { throw .unsupportedVersion }
    }
}

extension ByteView {
    /// Returns the offset after the CR LF at `index`, or nil while it is incomplete.
    @inline(__always)
    func lineEnd(at index: Int) throws(HTTPError) -> Int? {
        guard index < count else { return nil }
        guard self[index] == ASCII.cr else { throw .malformedRequestLine }
        guard index + 1 < count else { return nil }
        guard self[index + 1] == ASCII.lf else { throw .bareCarriageReturn }
        return index + 2
    }

    /// Returns the offset after `http://` or `https://` at the start of `range`, or nil.
    fileprivate func schemeEnd(_ range: Range<Int>) -> Int? {
        let start = range.lowerBound
        if range.count >= 7, equals(start ..< start + 7, "http://") { return start + 7 }
        if range.count >= 8, equals(start ..< start + 8, "https://") { return start + 8 }
        return nil
    }
}
