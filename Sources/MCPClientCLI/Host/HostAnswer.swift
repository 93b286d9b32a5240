import MCPCore

/// The responses of the two listeners. The browser never caches them or guesses their types, and none sets a
/// cookie.
enum HostAnswer {
    static func make(
        _ status: Int, type: String?, _ bytes: [UInt8], _ fields: [(String, String)] = []
    ) -> HTTPResponse {
        var headers = HeaderFields()
        let common = [
            ("Cache-Control", "no-store"), ("X-Content-Type-Options", "nosniff"),
            ("Referrer-Policy", "no-referrer"), ("Cross-Origin-Resource-Policy", "same-origin"),
        ]
        for (name, value) in (type.map { [("Content-Type", $0)] } ?? []) + common + fields {
            // The names and values are ours; a policy contains no control characters.
            try? headers.append(name, value)
        }
        return HTTPResponse(status: status, headers: headers, body: .bytes(bytes))
    }

    static func text(_ status: Int, _ text: String, _ fields: [(String, String)] = []) -> HTTPResponse {
        make(status, type: "text/plain; charset=utf-8", Array("\(text)\n".utf8), fields)
    }

    static func json(_ value: JSONValue, status: Int = 200) -> HTTPResponse {
        make(status, type: "application/json", RawJSON(value).bytes.array)
    }

    static let done = make(204, type: nil, [])

    static func problem(_ status: Int, _ text: String) -> HTTPResponse {
        json(["error": .string(text)], status: status)
    }

    /// Returns a document with a policy of its own, in a process of its own where the browser supports that.
    static func document(
        _ bytes: [UInt8], policy: String, _ fields: [(String, String)] = []
    ) -> HTTPResponse {
        make(
            200, type: "text/html; charset=utf-8", bytes,
            [("Content-Security-Policy", policy), ("Origin-Agent-Cluster", "?1")] + fields)
    }
}
