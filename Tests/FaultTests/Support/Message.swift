import MCPCore

/// Valid messages in text form, for tests that bend them.
enum Message {
    static let version = "2026-07-28"

    /// What every request of 2026-07-28 carries.
    static let meta =
        #""_meta":{"io.modelcontextprotocol/protocolVersion":"2026-07-28","#
        + #""io.modelcontextprotocol/clientCapabilities":{}}"#

    /// A request of 2026-07-28; `members` are further members of its params.
    static func modern(id: String, _ method: String, _ members: String = "") -> String {
        let params = members.isEmpty ? meta : members + "," + meta
        return #"{"jsonrpc":"2.0","id":\#(id),"method":"\#(method)","params":{\#(params)}}"#
    }

    /// A request of the handshake revisions.
    static func legacy(id: String, _ method: String, _ params: String? = nil) -> String {
        #"{"jsonrpc":"2.0","id":\#(id),"method":"\#(method)"\#(params.map { #","params":\#($0)"# } ?? "")}"#
    }

    static func call(id: String, _ tool: String, _ arguments: String) -> String {
        modern(id: id, "tools/call", #""name":"\#(tool)","arguments":\#(arguments)"#)
    }

    /// A call of `slow` that asks for progress and would take a minute.
    static let slowWithProgress = callWithProgress("slow", #"{"seconds":60}"#)

    /// A call with the id 1 that asks for progress.
    static func callWithProgress(_ tool: String, _ arguments: String) -> String {
        let meta = meta.dropLast() + #","progressToken":1}"#
        let params = #""name":"\#(tool)","arguments":\#(arguments),\#(meta)"#
        return #"{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{\#(params)}}"#
    }

    static func echo(id: String, _ text: String) -> String {
        call(id: id, "echo", #"{"text":"\#(text)"}"#)
    }

    static func initialize(_ version: String, id: String = "0") -> String {
        legacy(
            id: id, "initialize",
            #"{"protocolVersion":"\#(version)","capabilities":{},"clientInfo":{"name":"test","version":"1"}}"#
        )
    }

    static let initialized = #"{"jsonrpc":"2.0","method":"notifications/initialized"}"#

    static func cancel(_ id: String) -> String {
        #"{"jsonrpc":"2.0","method":"notifications/cancelled","params":{"requestId":\#(id),\#(meta)}}"#
    }
}

extension JSONValue {
    /// The error code of an answer.
    var code: Int? { self["error"]?["code"]?.intValue }

    var errorText: String { self["error"]?["message"]?.stringValue ?? "" }

    /// Whether the answer has the member `id` at all.
    var hasID: Bool { objectValue?["id"] != nil }

    /// The text of a tool's first block.
    var text: String? { self["result"]?["content"]?[0]?["text"]?.stringValue }

    var isToolError: Bool { self["result"]?["isError"] == true }
}

extension String {
    /// The text with every `old` replaced.
    func replacing(_ old: String, with new: String) -> String {
        var result = ""
        var rest = self[...]
        while let found = rest.range(of: old) {
            result += rest[..<found.lowerBound] + new
            rest = rest[found.upperBound...]
        }
        return result + rest
    }
}

extension Substring {
    fileprivate func range(of text: String) -> Range<Index>? {
        var start = startIndex
        while start < endIndex {
            if self[start...].hasPrefix(text) { return start ..< index(start, offsetBy: text.count) }
            formIndex(after: &start)
        }
        return nil
    }
}
