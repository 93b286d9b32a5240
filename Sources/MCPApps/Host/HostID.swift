/// The identifier of a server, a call, a view, a question or a piece of the conversation of an `AppHost`.
///
/// Each kind has a type of its own, such as `HostedView.ID`, so that one is never taken for another. The host
/// assigns identifiers; a front end passes them on as `rawValue` and back.
public struct HostID<Subject>: RawRepresentable, Sendable, Hashable, CustomStringConvertible {
    /// The identifier as text: letters and digits.
    public let rawValue: String

    /// Creates an identifier from the text that a front end sent back; one that does not exist has no effect.
    public init(rawValue: String) { self.rawValue = rawValue }

    /// The identifier as text.
    public var description: String { rawValue }
}
