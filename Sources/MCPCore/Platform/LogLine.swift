/// The format of log lines.
package enum LogFormat: Sendable, Hashable {
    /// `2026-07-28T09:30:00.000Z info listening address=127.0.0.1:8080`
    case text
    /// One JSON object per line with `time`, `level`, `event` and the fields.
    case json
    /// `<6>listening address=127.0.0.1:8080`: the journal adds the time and reads the level from the prefix.
    case journal
}

/// A log line under construction.
///
/// Values come from peers, so everything that could end a line, move the cursor or reverse the reading
/// direction is escaped. The length of a line is limited to what a pipe accepts whole.
struct LogLine {
    /// The longest line, including its newline: the amount that a pipe accepts in one piece.
    static let maxBytes = NonBlockingStream.pipeAtom
    /// The longest value, in characters; the rest is cut off.
    static let maxValueLength = 1_024

    private let format: LogFormat
    private var bytes: [UInt8] = []
    private var isTruncated = false

    init(format: LogFormat, level: LogLevel, event: String, time: WallTime) {
        self.format = format
        bytes.reserveCapacity(256)
        switch format {
        case .text:
            bytes += time.iso8601
            bytes += " \(level.name) ".utf8
            bytes += Self.escaped(event, json: false).utf8
        case .journal:
            bytes += "<\(level.rawValue)>".utf8
            bytes += Self.escaped(event, json: false).utf8
        case .json:
            bytes += "{\"time\":\"".utf8
            bytes += time.iso8601
            bytes += "\",\"level\":\"\(level.name)\",\"event\":\"\(Self.escaped(event, json: true))\"".utf8
        }
    }

    mutating func add(_ name: String, _ value: any CustomStringConvertible) {
        let field = format == .json ? Self.jsonField(name, value) : Self.textField(name, value)
        // Room for the mark of a truncated line and for its end.
        if bytes.count + field.utf8.count > Self.maxBytes - 24 {
            isTruncated = true
        } else {
            bytes += field.utf8
        }
    }

    consuming func finish() -> [UInt8] {
        if isTruncated { bytes += (format == .json ? ",\"truncated\":true" : " truncated=true").utf8 }
        if format == .json { bytes.append(0x7D) }
        bytes.append(0x0A)
        return bytes
    }

    private static func textField(_ name: String, _ value: any CustomStringConvertible) -> String {
        let text = value.description
        let escaped = escaped(text, json: false)
        let needsQuotes = text.isEmpty || escaped != text || text.utf8.contains { $0 == 0x20 || $0 == 0x3D }
        return " \(Self.escaped(name, json: false))=" + (needsQuotes ? "\"\(escaped)\"" : escaped)
    }

    private static func jsonField(_ name: String, _ value: any CustomStringConvertible) -> String {
        let key = ",\"\(escaped(name, json: true))\":"
        if value is any BinaryInteger || value is Bool { return key + value.description }
        return key + "\"\(escaped(value.description, json: true))\""
    }

    private static func escaped(_ text: String, json: Bool) -> String {
        var result = ""
        var length = 0
        for scalar in text.unicodeScalars {
            length += 1
            if length > maxValueLength { return result + "…" }
            switch scalar.value {
            case 0x0A: result += "\\n"
            case 0x0D: result += "\\r"
            case 0x09: result += "\\t"
            case 0x22: result += "\\\""
            case 0x5C: result += "\\\\"
            // Control characters, line separators, and marks and overrides of the writing direction.
            case 0 ..< 0x20, 0x7F ... 0x9F, 0x2028 ... 0x202E, 0x2066 ... 0x2069, 0x200E, 0x200F, 0x61C:
                let digits = String(scalar.value, radix: 16)
                let padded = String(repeating: "0", count: max(0, 4 - digits.count)) + digits
                result += json ? "\\u\(padded)" : "\\u{\(digits)}"
            default: result.unicodeScalars.append(scalar)
            }
        }
        return result
    }
}
