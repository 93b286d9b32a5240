/// When a server wants to be asked again (RFC 9110, section 10.2.3).
package struct RetryAfter: Sendable {
    /// The time until then; zero for a time that has passed.
    package let pause: Duration
    /// The date, as the server wrote it; nil for seconds.
    package let date: String?

    /// Creates what the server has said in a refusal; nil if it said nothing, or nothing readable.
    package init?(of error: ClientError) {
        guard let value = error.details.lazy.compactMap({ $0.dropping(prefix: "Retry-After: ") }).first else {
            return nil
        }
        self.init(value, now: .now)
    }

    /// Creates the value of the field, seconds or a date; nil for anything else.
    package init?(_ value: String, now: WallTime) {
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
}
