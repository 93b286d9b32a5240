/// Times on the command line: `500ms`, `10s`, `1.5m`, `1m30s`, `2h`; a bare number means seconds.
enum TimeSpan {
    /// Parses a time from 1 ns to 100 days; nil when the text is not a time, or rounds to zero.
    static func parse(_ text: String) -> Duration? {
        var rest = Substring(text)
        var total = 0.0
        guard !rest.isEmpty else { return nil }
        while !rest.isEmpty {
            let digits = rest.prefix { $0.isASCII && ($0.isNumber || $0 == ".") }
            guard let number = Double(digits) else { return nil }
            rest = rest.dropFirst(digits.count)
            let unit = rest.prefix { $0.isLetter }
            rest = rest.dropFirst(unit.count)
            guard let factor = seconds(perUnit: unit, isWholeText: digits.count == text.count) else {
                return nil
            }
            total += number * factor
        }
        guard total <= 8_640_000 else { return nil }
        let nanoseconds = Int64((total * 1e9).rounded())
        return nanoseconds > 0 ? .nanoseconds(nanoseconds) : nil
    }

    private static func seconds(perUnit unit: Substring, isWholeText: Bool) -> Double? {
        switch unit {
        case "ms": 0.001
        case "s": 1
        case "m", "min": 60
        case "h": 3600
        case "": isWholeText ? 1 : nil
        default: nil
        }
    }

    /// Returns a duration for people: `41 ms`, `2.5 s`.
    static func text(_ duration: Duration) -> String {
        let milliseconds = Self.milliseconds(duration)
        if milliseconds < 10 { return "\(decimal(milliseconds)) ms" }
        if milliseconds < 1000 { return "\(Int(milliseconds.rounded())) ms" }
        return "\(decimal(milliseconds / 1000)) s"
    }

    static func milliseconds(_ duration: Duration) -> Double {
        let parts = duration.components
        return Double(parts.seconds) * 1000 + Double(parts.attoseconds) / 1e15
    }

    /// Formats a number with one digit after the decimal point, or none when it is zero.
    static func decimal(_ value: Double) -> String {
        // Also used for numbers from a server, which may be anything.
        guard value.magnitude < 1e12 else { return "?" }
        let tenths = Int((value.magnitude * 10).rounded())
        let sign = value < 0 && tenths > 0 ? "-" : ""
        return sign + (tenths % 10 == 0 ? "\(tenths / 10)" : "\(tenths / 10).\(tenths % 10)")
    }
}
