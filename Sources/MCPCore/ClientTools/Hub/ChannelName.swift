/// The name of a channel: 1 to 128 bytes without control characters and slashes, since it stands in a path.
///
/// A name that programs can register tools in is one that `init(registered:)` leaves as it is.
public struct ChannelName: Hashable, Sendable {
    /// The name.
    public let text: String

    /// A name that is given as it is.
    ///
    /// Nil for a text that no channel can have as its name.
    public init?(_ text: String) {
        let isAllowed = text.unicodeScalars.allSatisfy { scalar in
            switch scalar.value {
            case 0 ..< 0x20, 0x2F, 0x7F ... 0x9F: false
            default: true
            }
        }
        guard isAllowed, (1 ... ClientToolLimits.nameBytes).contains(text.utf8.count) else { return nil }
        self.text = text
    }

    /// A name as Stream's clients send it: the part between the first and the second colon, if there is a
    /// colon, without white space at either end.
    ///
    /// Nil where nothing is left of the text that a channel can have as its name.
    public init?(registered text: String) {
        let trimmed = text.trimmedLikeJavaScript()
        let parts = trimmed.split(separator: ":", maxSplits: 2, omittingEmptySubsequences: false)
        self.init(parts.count > 1 ? String(parts[1]).trimmedLikeJavaScript() : trimmed)
    }
}
