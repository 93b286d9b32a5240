import Testing

/// A way to reach a server.
package enum Leg: String, CaseIterable, Sendable { case inMemory, stdio, http }

/// A leg and a revision: one body of an interaction test runs in every one.
package struct Setting: Sendable, CustomTestStringConvertible {
    package let leg: Leg
    /// The revision, as on the wire. Dates compare as texts.
    package let version: String

    package init(leg: Leg, version: String) {
        self.leg = leg
        self.version = version
    }

    package var isModern: Bool { version >= "2026-07-28" }
    package var hasStructuredContent: Bool { version >= "2025-06-18" }
    /// Since 2025-11-25 arguments that do not fit are something for the model to read (TOOL-18).
    package var argumentErrorsAreResults: Bool { version >= "2025-11-25" }
    /// The HTTP status of an error whose code has no status of its own, if there are statuses at all.
    package func status(_ modern: Int, legacy: Int = 200) -> Int? {
        leg == .http ? (isModern ? modern : legacy) : nil
    }

    package var testDescription: String { "\(leg.rawValue) \(version)" }

    package static let versions = ["2024-11-05", "2025-03-26", "2025-06-18", "2025-11-25", "2026-07-28"]
    package static let all = Leg.allCases.flatMap { leg in versions.map { Setting(leg: leg, version: $0) } }
    package static let modern = all.filter(\.isModern)
    package static let legacy = all.filter { !$0.isModern }
    package static func inMemory(_ version: String = "2026-07-28") -> Setting {
        Setting(leg: .inMemory, version: version)
    }
}
