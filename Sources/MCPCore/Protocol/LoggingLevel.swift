/// The severity of a log message, as defined by RFC 5424 (server/utilities/logging "Log Levels").
public struct LoggingLevel: RawRepresentable, Sendable, Hashable, Comparable, CaseIterable {
    /// The level as sent on the wire.
    public let rawValue: String
    private let rank: Int

    private static let names = [
        "debug", "info", "notice", "warning", "error", "critical", "alert", "emergency",
    ]

    /// Creates the level with this name, or returns nil if there is none: the set is closed (LOG-05, LOG-06).
    public init?(rawValue: String) {
        guard let rank = Self.names.firstIndex(of: rawValue) else { return nil }
        self.rawValue = rawValue
        self.rank = rank
    }

    private init(rank: Int) {
        rawValue = Self.names[rank]
        self.rank = rank
    }

    /// Information for developers.
    public static let debug = LoggingLevel(rank: 0)
    /// Normal progress.
    public static let info = LoggingLevel(rank: 1)
    /// A normal but noteworthy event.
    public static let notice = LoggingLevel(rank: 2)
    /// Something may be wrong.
    public static let warning = LoggingLevel(rank: 3)
    /// An operation failed.
    public static let error = LoggingLevel(rank: 4)
    /// A component does not work.
    public static let critical = LoggingLevel(rank: 5)
    /// Immediate action is required.
    public static let alert = LoggingLevel(rank: 6)
    /// The system is unusable.
    public static let emergency = LoggingLevel(rank: 7)

    /// All levels, least severe first.
    public static let allCases = names.indices.map { LoggingLevel(rank: $0) }

    /// Returns whether the first level is less severe.
    public static func < (a: LoggingLevel, b: LoggingLevel) -> Bool { a.rank < b.rank }
}

/// A log message from a server (server/utilities/logging).
public struct LogMessage: WireType {
    /// The severity.
    public var level: LoggingLevel
    /// The part of the server that logged the message.
    public var logger: String?
    /// The content of the message: a string, or any JSON.
    public var data: JSONValue

    /// Creates a message.
    public init(_ level: LoggingLevel, _ data: JSONValue, logger: String? = nil) {
        self.level = level
        self.logger = logger
        self.data = data
    }

    /// Reads the params of `notifications/message`.
    public init(json: JSONValue) throws(JSONError) {
        let members = try MemberReader(json, as: "LogMessage")
        let name = try members.string("level")
        guard let level = LoggingLevel(rawValue: name) else {
            throw JSONError(.typeMismatch(expected: "a log level", found: .string), path: "/level")
        }
        self.level = level
        logger = try members.optionalString("logger")
        data = members.object["data"] ?? .null
    }

    /// The params of `notifications/message`.
    public var json: JSONValue {
        var object: JSONObject = ["level": .string(level.rawValue)]
        if let logger { object["logger"] = .string(logger) }
        object["data"] = data
        return .object(object)
    }
}
