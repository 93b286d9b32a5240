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
        try writeStart(method: method, target: target, host: host, to: &buffer)
        write(fields, to: &buffer)
        writeEnd(contentLength: contentLength, to: &buffer)
    }

    /// Writes the request line and Host; the fields and `writeEnd` follow.
    /// - Throws: `InvalidField` for a target or a host that would break the line.
    static func writeStart(
        method: StaticString, target: String, host: String, to buffer: inout ByteBuffer
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
    }

    /// Writes the lines of fields.
    static func write(_ fields: HeaderFields, to buffer: inout ByteBuffer) {
        for field in fields {
            buffer.append(utf8: field.name)
            buffer.append(": ")
            buffer.append(utf8: field.value)
            buffer.append("\r\n")
        }
    }

    /// Writes one field of this package's own.
    /// - Throws: `InvalidField` for a value that contains a control character.
    @inline(__always)
    static func write(
        _ name: StaticString, _ value: String, to buffer: inout ByteBuffer
    ) throws(HeaderFields.InvalidField) {
        let value = try HeaderFields.checked(value, of: name.description)
        buffer.append(name)
        buffer.append(": ")
        buffer.append(utf8: value)
        buffer.append("\r\n")
    }

    /// Writes Content-Length, unless it is nil, and the end of the head.
    static func writeEnd(contentLength: Int?, to buffer: inout ByteBuffer) {
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
