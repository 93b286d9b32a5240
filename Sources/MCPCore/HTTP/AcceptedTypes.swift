/// The media types of an MCP response that the `Accept` fields of a request allow (RFC 9110, section 12.5.1).
///
/// The most specific matching range decides: `*/*, text/event-stream;q=0` does not accept event streams.
/// Malformed ranges are ignored.
struct AcceptedTypes: Sendable {
    /// The specificity of the best range, and whether its weight is above 0.
    private struct Match: Sendable {
        var specificity = 0
        var isAccepted = false

        mutating func note(_ specificity: Int, _ isAccepted: Bool) {
            if specificity > self.specificity {
                self = Match(specificity: specificity, isAccepted: isAccepted)
            } else if specificity == self.specificity {
                self.isAccepted = self.isAccepted || isAccepted
            }
        }
    }

    private var jsonMatch = Match()
    private var streamMatch = Match()

    /// Whether `application/json` is accepted.
    var json: Bool { jsonMatch.isAccepted }
    /// Whether `text/event-stream` is accepted.
    var eventStream: Bool { streamMatch.isAccepted }

    /// Creates a value that accepts nothing yet.
    init() {}

    /// Reads all `Accept` fields of a request.
    ///
    /// If the request has none, nothing is accepted here; use `head.range(.accept)` to distinguish that case.
    init(_ head: RequestHead, in bytes: ByteSlice) {
        guard let value = head.value(.accept, in: bytes) else { return }
        add(value)
        guard head.isRepeated(.accept) else { return }
        for other in head.values(named: "accept", in: bytes).dropFirst() { add(other) }
    }

    /// Adds the value of one `Accept` field.
    mutating func add(_ value: ByteSlice) {
        unsafe value.withBytes { bytes in
            let view = unsafe ByteView(bytes)
            // The value that nearly every MCP client sends.
            if view.equals(0 ..< view.count, "application/json, text/event-stream") {
                jsonMatch = Match(specificity: 3, isAccepted: true)
                streamMatch = jsonMatch
                return
            }
            view.forEachElement(0 ..< view.count) { add(view, $0) }
        }
    }

    /// Adds one media range with its parameters.
    private mutating func add(_ view: ByteView, _ element: Range<Int>) {
        var type = 0 ..< 0
        var isFirst = true
        var isValid = true
        var weight = 1000
        view.forEachElement(element, separator: 0x3B) { part in
            if isFirst {
                type = part
                isFirst = false
            } else if let (name, value) = view.parameter(part) {
                if name.count == 1, view[name.lowerBound] | 0x20 == 0x71 {  // "q"
                    if let parsed = view.weight(value) { weight = parsed } else { isValid = false }
                }
            } else if !part.isEmpty {
                isValid = false
            }
        }
        guard isValid else { return }
        let isAccepted = weight > 0
        if view.equalsExactly(type, "*/*") {
            jsonMatch.note(1, isAccepted)
            streamMatch.note(1, isAccepted)
        } else if view.equals(type, "application/*") {
            jsonMatch.note(2, isAccepted)
        } else if view.equals(type, "text/*") {
            streamMatch.note(2, isAccepted)
        } else if view.equals(type, "application/json") {
            jsonMatch.note(3, isAccepted)
        } else if view.equals(type, "text/event-stream") {
            streamMatch.note(3, isAccepted)
        }
    }
}

extension ByteView {
    /// Returns a weight in thousandths: `0` or `1` with at most three decimals, at most 1 (RFC 9110, section
    /// 12.4.2).
    fileprivate func weight(_ range: Range<Int>) -> Int? {
        guard (1 ... 5).contains(range.count), range.count == 1 || self[range.lowerBound + 1] == 0x2E else {
            return nil
        }
        var weight = 0
        var scale = 1000
        for index in range where index != range.lowerBound + 1 {
            guard ASCII.isDigit(self[index]) else { return nil }
            // Small: at most a digit times 1000.
            weight += Int(self[index] - 0x30) * scale
            scale /= 10
        }
        return weight <= 1000 ? weight : nil
    }
}
