/// The number of requests that one principal may send within a time. Unused ones are saved up to that number.
public struct RateLimit: Sendable, Hashable, Codable, CustomStringConvertible {
    /// The units of time, with their names in the text form.
    private static let units: [(name: String, seconds: Int)] = [("s", 1), ("min", 60), ("h", 3_600)]

    /// The number of requests, from 1 to 1,000,000.
    public let count: Int
    /// The time in seconds.
    public let seconds: Int

    /// Creates a limit from a text such as `60/min`, `5/s` or `1000/h`; nil for any other text.
    public init?(_ text: String) {
        let parts = text.split(separator: "/", omittingEmptySubsequences: false)
        guard parts.count == 2, parts[0].utf8.count <= 7, parts[0].utf8.allSatisfy(ASCII.isDigit),
            // Small: at most seven digits.
            let count = Int(String(parts[0])), (1 ... 1_000_000).contains(count),
            let unit = Self.units.first(where: { $0.name == parts[1] })
        else { return nil }
        self.count = count
        seconds = unit.seconds
    }

    /// Reads the text form.
    public init(from decoder: any Decoder) throws {
        let container = try decoder.singleValueContainer()
        let text = try container.decode(String.self)
        guard let limit = RateLimit(text) else {
            throw DecodingError.dataCorruptedError(
                in: container, debugDescription: "a rate is written as 60/min, 5/s or 1000/h")
        }
        self = limit
    }

    /// Writes the text form.
    public func encode(to encoder: any Encoder) throws {
        var container = encoder.singleValueContainer()
        try container.encode(description)
    }

    /// The text form, such as `60/min`.
    public var description: String {
        "\(count)/\(Self.units.first { $0.seconds == seconds }?.name ?? "\(seconds)s")"
    }
}
