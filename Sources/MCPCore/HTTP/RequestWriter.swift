/// A writer for a client's request heads.
enum RequestWriter {
    /// Writes a whole head with exactly one Host and, unless it is nil, one Content-Length.
    ///
    /// `host` is the value of Host: the name, and the port unless it is the default.
    /// - Throws: `InvalidField` for a target or a host that would break the line.
    static func writeHead(
        method: StaticString, target: String, host: String, fields: HeaderFields, contentLength: Int?,
        to buffer: inout ByteBuffer
    ) throws(HeaderFields.InvalidField) {
        guard isVisible(target) else {
            throw HeaderFields.InvalidField(
                name: ":path", description: "the URL's path contains an illegal character")
        }
        guard isVisible(host) else {
            throw HeaderFields.InvalidField(
                name: "Host", description: "the URL's host contains an illegal character")
        }
        buffer.append(method)
        buffer.append(ASCII.space)
        buffer.append(utf8: target)
        buffer.append(" HTTP/1.1\r\nHost: ")
        buffer.append(utf8: host)
        buffer.append("\r\n")
        for field in fields {
            buffer.append(utf8: field.name)
            buffer.append(": ")
            buffer.append(utf8: field.value)
            buffer.append("\r\n")
        }
        if let contentLength {
            buffer.append("Content-Length: ")
            buffer.append(decimal: contentLength)
            buffer.append("\r\n")
        }
        buffer.append("\r\n")
    }

    private static func isVisible(_ text: String) -> Bool {
        !text.isEmpty && text.utf8.allSatisfy { $0 > 0x20 && $0 < 0x7F }
    }
}
