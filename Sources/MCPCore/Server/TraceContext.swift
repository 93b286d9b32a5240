/// The position of a request in a distributed trace (W3C Trace Context, `traceparent`).
public struct TraceContext: Sendable, Hashable {
    /// The header in its usual notation: `00-TRACEID-PARENTID-FLAGS`, 55 characters in lower case.
    public let traceparent: String

    /// The trace's id: 32 hexadecimal digits.
    public var traceID: String { String(decoding: traceparent.utf8.dropFirst(3).prefix(32), as: UTF8.self) }

    /// Creates a position from a `traceparent`; nil if it is not valid, which includes ids of zeros.
    ///
    /// Of a later version than 00, the parts that are known are kept (W3C Trace Context, section 3.2.2.1).
    public init?(_ text: String) { self.init(bytes: text.utf8) }

    init?(bytes: some Collection<UInt8>) {
        let text = Array(bytes.prefix(56))
        guard text.count >= 55, Self.isHex(text[0 ..< 2]), Self.isHex(text[3 ..< 35]),
            Self.isHex(text[36 ..< 52]), Self.isHex(text[53 ..< 55]),
            text[2] == Self.dash, text[35] == Self.dash, text[52] == Self.dash,
            text[3 ..< 35].contains(where: { $0 != Self.zero }),
            text[36 ..< 52].contains(where: { $0 != Self.zero }), !text[0 ..< 2].elementsEqual("ff".utf8)
        else { return nil }
        let isFirstVersion = text[0 ..< 2].elementsEqual("00".utf8)
        guard text.count == 55 || (!isFirstVersion && text[55] == Self.dash) else { return nil }
        traceparent = "00" + String(decoding: text[2 ..< 55], as: UTF8.self)
    }

    private static let dash = UInt8(ascii: "-")
    private static let zero = UInt8(ascii: "0")

    private static func isHex(_ bytes: some Sequence<UInt8>) -> Bool {
        bytes.allSatisfy { ASCII.isDigit($0) || (UInt8(ascii: "a") ... UInt8(ascii: "f")).contains($0) }
    }
}

extension HeaderClaims {
    /// The trace context of the HTTP head; nil if there is none, if it is not valid, or if there are several.
    var traceContext: TraceContext? { trace.flatMap { TraceContext(bytes: bytes[$0]) } }
}

extension RequestContext {
    /// The trace that the request belongs to: `traceparent` of its `_meta`, or else of its HTTP head, which
    /// is read only by a server with middleware. Nil if there is none, or it is not valid.
    public var traceContext: TraceContext? {
        if let text = meta?["traceparent"]?.string { return TraceContext(text) }
        return header
    }
}
