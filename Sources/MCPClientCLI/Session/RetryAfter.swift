import MCPCore

/// When a server wants to be asked again (RFC 9110, section 10.2.3).
struct RetryAfter {
    /// The time until then; zero for a time that has passed.
    let pause: Duration
    private let date: String?

    /// Creates what the server has said in a refusal; nil if it said nothing, or nothing readable.
    init?(of error: ClientError) {
        guard let value = error.details.lazy.compactMap({ $0.dropping(prefix: "Retry-After: ") }).first else {
            return nil
        }
        self.init(value, now: .now)
    }

    /// Creates the value of the field, seconds or a date; nil for anything else.
    init?(_ value: String, now: WallTime) {
        if !value.isEmpty, value.utf8.allSatisfy({ UInt8(ascii: "0") ... UInt8(ascii: "9") ~= $0 }) {
            (pause, date) = (.seconds(Int64(value) ?? .max), nil)
        } else if let time = WallTime(httpDate: value, now: now) {
            let start = Duration.nanoseconds(now.nanosecondsSinceEpoch)
            let left = Duration.nanoseconds(time.nanosecondsSinceEpoch) - start
            (pause, date) = (max(.zero, left), value)
        } else {
            return nil
        }
    }

    /// The time, for a person: `in 7 s`, `now`.
    var text: String {
        if pause == .zero { return "now" }
        return date.map { "after \(inlineText($0))" } ?? "in \(pause.components.seconds) s"
    }
}
