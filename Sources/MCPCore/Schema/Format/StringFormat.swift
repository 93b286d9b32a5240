/// The values of `format` that can be checked (JSON Schema validation 2020-12, section 7.3).
///
/// `idn-email` and `idn-hostname` are not included: they remain annotations, like unknown formats.
enum StringFormat: String, Sendable, CaseIterable {
    case date, time, duration, email, hostname, ipv4, ipv6, uri, iri, uuid, regex
    case dateTime = "date-time"
    case uriReference = "uri-reference"
    case iriReference = "iri-reference"
    case uriTemplate = "uri-template"
    case jsonPointer = "json-pointer"
    case relativeJSONPointer = "relative-json-pointer"

    /// Whether a string has this format.
    func accepts(_ text: String) -> Bool {
        let bytes = Array(text.utf8)
        return switch self {
        case .date: TimeFormat.isDate(bytes[...])
        case .time: TimeFormat.isTime(bytes[...])
        case .dateTime: TimeFormat.isDateTime(bytes)
        case .duration: TimeFormat.isDuration(bytes)
        case .email: HostFormat.isEmail(bytes)
        case .hostname: HostFormat.isHostname(bytes[...])
        case .ipv4: HostFormat.isIPv4(bytes[...])
        case .ipv6: HostFormat.isIPv6(bytes[...])
        case .uri: URIFormat(allowsUnicode: false).isReference(text, needsScheme: true)
        case .uriReference: URIFormat(allowsUnicode: false).isReference(text, needsScheme: false)
        case .iri: URIFormat(allowsUnicode: true).isReference(text, needsScheme: true)
        case .iriReference: URIFormat(allowsUnicode: true).isReference(text, needsScheme: false)
        case .uriTemplate: URIFormat.isTemplate(text)
        case .uuid: Self.isUUID(bytes)
        case .jsonPointer: JSONPointer.tokens(of: text) != nil
        case .relativeJSONPointer: Self.isRelativePointer(text)
        case .regex: (try? Pattern(text)) != nil
        }
    }

    /// Accepts UUIDs of RFC 9562 section 4, any version.
    private static func isUUID(_ bytes: [UInt8]) -> Bool {
        guard bytes.count == 36 else { return false }
        return bytes.enumerated().allSatisfy { index, byte in
            switch index {
            case 8, 13, 18, 23: byte == 0x2D
            default: Unicode.Scalar(byte).hexDigit != nil
            }
        }
    }

    private static func isRelativePointer(_ text: String) -> Bool {
        let digits = text.prefix { $0.isASCII && $0.isWholeNumber }
        guard !digits.isEmpty, digits == "0" || digits.first != "0" else { return false }
        let rest = String(text[digits.endIndex...])
        return rest == "#" || JSONPointer.tokens(of: rest) != nil
    }
}
