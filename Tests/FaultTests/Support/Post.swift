/// A POST to the endpoint, with the header fields of 2026-07-28 unless they are replaced.
struct Post {
    var body: [UInt8]
    var requestLine = "POST /mcp HTTP/1.1"
    var fields: [(name: String, value: String)]

    /// - Parameters:
    ///   - method: `Mcp-Method`; nil takes none, as legacy requests do.
    ///   - name: `Mcp-Name`.
    init(_ body: [UInt8], method: String? = "tools/call", name: String? = nil) {
        self.body = body
        fields = [
            ("Content-Type", "application/json"), ("Accept", "application/json, text/event-stream"),
        ]
        if let method { fields += [("MCP-Protocol-Version", Message.version), ("Mcp-Method", method)] }
        if let name { fields.append(("Mcp-Name", name)) }
    }

    init(_ body: String, method: String? = "tools/call", name: String? = nil) {
        self.init(Array(body.utf8), method: method, name: name)
    }

    /// Replaces a field; nil removes it.
    func with(_ name: String, _ value: String?) -> Post {
        var post = self
        post.fields.removeAll { $0.name == name }
        if let value { post.fields.append((name, value)) }
        return post
    }

    /// Adds a field, also when it is there already.
    func adding(_ name: String, _ value: String) -> Post {
        var post = self
        post.fields.append((name, value))
        return post
    }

    /// A head whose body comes in chunks, up to and with the empty line.
    static func chunkedHead(_ coding: String = "chunked") -> String {
        "POST /mcp HTTP/1.1\r\nHost: 127.0.0.1\r\nContent-Type: application/json\r\n"
            + "Transfer-Encoding: \(coding)\r\n\r\n"
    }

    func bytes(port: UInt16) -> [UInt8] {
        var head = requestLine + "\r\n"
        if !fields.contains(where: { $0.name == "Host" }) { head += "Host: 127.0.0.1:\(port)\r\n" }
        for (name, value) in fields { head += "\(name): \(value)\r\n" }
        let isFramed = fields.contains { $0.name == "Content-Length" || $0.name == "Transfer-Encoding" }
        if !isFramed { head += "Content-Length: \(body.count)\r\n" }
        return Array(head.utf8) + [0x0D, 0x0A] + body
    }
}
