/// The name of a channel: 1 to 128 bytes without control characters, invisible characters and slashes, since
/// it is part of a path and of the lines of a log.
///
/// Programs can register tools in a channel if `init(registered:)` leaves its name unchanged.
public struct ChannelName: Hashable, Sendable {
    /// The text of the name.
    public let text: String

    /// The rule for names that programs can register tools in, for error messages.
    package static let rule =
        "a channel name has 1 to 128 bytes, no colon, slash, control or invisible character, and no space at "
        + "either end"

    /// Whether programs can register tools in a channel with exactly this name.
    package static func isRegistrable(_ text: String) -> Bool { Self(registered: text)?.text == text }

    /// Creates a name from a text as it is.
    ///
    /// Fails if the text cannot be the name of a channel.
    public init?(_ text: String) {
        guard text.unicodeScalars.allSatisfy(Self.isAllowed),
            (1 ... ClientToolLimits.nameBytes).contains(text.utf8.count)
        else { return nil }
        self.text = text
    }

    private static func isAllowed(_ scalar: Unicode.Scalar) -> Bool {
        switch scalar.value {
        case 0 ..< 0x20, 0x2F, 0x7F ... 0x9F, 0x2028, 0x2029: false
        // Parts of emoji and of scripts that join letters.
        case 0x200C, 0x200D, 0xFE0E, 0xFE0F: true
        default:
            scalar.isASCII
                || !scalar.properties.isDefaultIgnorableCodePoint
                    && scalar.properties.generalCategory != .format
        }
    }

    /// Creates a name from the form that Stream's clients send: the part between the first and the second
    /// colon, if there is a colon, without white space at either end.
    ///
    /// Fails if the remaining text cannot be the name of a channel.
    public init?(registered text: String) {
        let trimmed = text.trimmedLikeJavaScript()
        let parts = trimmed.split(separator: ":", maxSplits: 2, omittingEmptySubsequences: false)
        self.init(parts.count > 1 ? String(parts[1]).trimmedLikeJavaScript() : trimmed)
    }
}
