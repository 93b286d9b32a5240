import MCPCore

/// Durations and sizes in the notation of the configuration.
enum Units {
    /// Parses a duration such as `500ms`, `30s`, `10m`, `2h` or `1d`: a whole number greater than zero, with
    /// a unit.
    static func duration(_ text: String) -> Duration? {
        guard let (count, unit) = split(text), count > 0 else { return nil }
        switch unit {
        case "ms": return .milliseconds(count)
        case "s": return .seconds(count)
        case "m", "min": return scaled(count, 60).map { .seconds($0) }
        case "h": return scaled(count, 3_600).map { .seconds($0) }
        case "d": return scaled(count, 86_400).map { .seconds($0) }
        default: return nil
        }
    }

    /// Parses a size such as `0`, `512`, `256KiB`, `4MiB`, `1GiB`, `100kB` or `5MB`; returns bytes.
    static func size(_ text: String) -> Int? {
        guard let (count, unit) = split(text) else { return nil }
        switch unit {
        case "", "B": return count
        case "kB", "KB": return scaled(count, 1_000)
        case "KiB", "K": return scaled(count, 1 << 10)
        case "MB": return scaled(count, 1_000_000)
        case "MiB", "M": return scaled(count, 1 << 20)
        case "GB": return scaled(count, 1_000_000_000)
        case "GiB", "G": return scaled(count, 1 << 30)
        default: return nil
        }
    }

    /// Formats a duration for messages: `30 s`, `500 ms`, `10 min`.
    static func describe(_ duration: Duration) -> String {
        let (seconds, attoseconds) = duration.components
        let milliseconds = attoseconds / 1_000_000_000_000_000
        if milliseconds != 0 { return "\(seconds &* 1_000 &+ milliseconds) ms" }
        if seconds >= 3_600, seconds % 3_600 == 0 { return "\(seconds / 3_600) h" }
        if seconds >= 60, seconds % 60 == 0 { return "\(seconds / 60) min" }
        return "\(seconds) s"
    }

    /// Formats a size for messages: `256 KiB`.
    static func describe(bytes: Int) -> String {
        if bytes >= 1 << 20, bytes % (1 << 20) == 0 { return "\(bytes >> 20) MiB" }
        if bytes >= 1 << 10, bytes % (1 << 10) == 0 { return "\(bytes >> 10) KiB" }
        return bytes == 1 ? "1 byte" : "\(bytes) bytes"
    }

    /// The largest number of seconds or bytes: more is a mistake, and smaller numbers never overflow in sums.
    private static let largest = 1 << 50

    private static func split(_ text: String) -> (count: Int, unit: String)? {
        let digits = text.utf8.prefix { ASCII.isDigit($0) }
        guard !digits.isEmpty, let count = Int(Substring(digits)), count <= largest else { return nil }
        return (count, String(text.dropFirst(digits.count)).trimmed)
    }

    private static func scaled(_ count: Int, _ factor: Int) -> Int? {
        let (product, overflow) = count.multipliedReportingOverflow(by: factor)
        return overflow || product > largest ? nil : product
    }
}
