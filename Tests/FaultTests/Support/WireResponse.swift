import MCPCore

/// An HTTP response as it came over the socket.
struct WireResponse: CustomStringConvertible {
    let status: Int
    /// Names in lower case.
    let fields: [(name: String, value: String)]
    let body: [UInt8]

    func values(_ name: String) -> [String] { fields.filter { $0.name == name }.map(\.value) }

    subscript(name: String) -> String? { values(name).first }

    /// The body as one JSON-RPC message.
    var message: JSONValue? { try? JSONValue(parsing: body) }

    /// The messages of an event stream.
    var events: [JSONValue] {
        String(decoding: body, as: UTF8.self).split(separator: "\n")
            .filter { $0.hasPrefix("data: ") }
            .compactMap { try? JSONValue(parsing: String($0.dropFirst(6))) }
    }

    /// Where the message is, whatever form the answer has.
    var answer: JSONValue? {
        self["content-type"]?.hasPrefix("text/event-stream") == true ? events.last : message
    }

    var description: String { "HTTP \(status): \(String(decoding: body.prefix(300), as: UTF8.self))" }

    /// The response that begins at `start`, and the offset of its end; nil while it is not complete.
    ///
    /// - Parameter ended: the peer has closed, which ends a body of unknown length.
    static func parse(
        _ bytes: [UInt8], from start: Int, hasBody: Bool = true, ended: Bool
    ) throws -> (response: WireResponse, end: Int)? {
        guard let end = bytes.firstEnd(of: Array("\r\n\r\n".utf8), from: start) else { return nil }
        let lines = String(decoding: bytes[start ..< (end - 4)], as: UTF8.self).split(separator: "\r\n").map(
            String.init)
        let words = (lines.first ?? "").split(separator: " ")
        guard words.count >= 2, words[0] == "HTTP/1.1", let status = Int(words[1]) else {
            throw FaultTestError("no status line: \(lines.first ?? "")")
        }
        let fields = lines.dropFirst().map { line -> (name: String, value: String) in
            let colon = line.firstIndex(of: ":") ?? line.endIndex
            let value = line[colon...].dropFirst().drop { $0 == " " }
            return (line[..<colon].lowercased(), String(value))
        }
        let bare = WireResponse(status: status, fields: fields, body: [])
        guard hasBody, status >= 200, status != 204 else { return (bare, end) }
        if bare["transfer-encoding"] == "chunked" {
            guard let (body, bodyEnd) = try chunked(bytes, from: end) else { return nil }
            return (WireResponse(status: status, fields: fields, body: body), bodyEnd)
        }
        if let length = bare["content-length"].flatMap({ Int($0) }) {
            guard bytes.count >= end + length else { return nil }
            let body = Array(bytes[end ..< end + length])
            return (WireResponse(status: status, fields: fields, body: body), end + length)
        }
        return ended
            ? (WireResponse(status: status, fields: fields, body: Array(bytes[end...])), bytes.count) : nil
    }

    private static func chunked(_ bytes: [UInt8], from start: Int) throws -> ([UInt8], Int)? {
        var body: [UInt8] = []
        var index = start
        while true {
            guard let lineEnd = bytes.firstEnd(of: [0x0D, 0x0A], from: index) else { return nil }
            let text = String(decoding: bytes[index ..< lineEnd - 2], as: UTF8.self)
            guard let size = Int(text, radix: 16) else { throw FaultTestError("a bad chunk size: \(text)") }
            guard bytes.count >= lineEnd + size + 2 else { return nil }
            body += bytes[lineEnd ..< lineEnd + size]
            index = lineEnd + size + 2
            if size == 0 { return (body, index) }
        }
    }
}

extension [UInt8] {
    /// The offset behind the first occurrence of `pattern`.
    func firstEnd(of pattern: [UInt8], from start: Int) -> Int? {
        guard count >= pattern.count, start <= count - pattern.count else { return nil }
        var index = start
        while index <= count - pattern.count {
            if self[index] == pattern[0], self[index ..< index + pattern.count].elementsEqual(pattern) {
                return index + pattern.count
            }
            index += 1
        }
        return nil
    }
}
