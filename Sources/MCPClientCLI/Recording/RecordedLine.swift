import MCPCore

/// One line of a recording: a request with its response, or a message that has none.
///
/// `mcp-server` writes the same lines when it records its last exchanges.
struct RecordedLine: Sendable {
    enum Side: String, Sendable { case client, server }

    /// When the message was sent, in ISO 8601.
    var time: String
    /// The side that sent the request or the message.
    var side = Side.client
    var method: String
    /// `ok`, `tool_error`, `error`, or `unanswered`; nil for a message without a response.
    var outcome: String?
    var milliseconds: Double?
    /// The request; nil if it was not written down.
    var request: RawJSON?
    /// The response; nil if there was none, or if it was not written down.
    var response: RawJSON?
    /// A notification.
    var message: RawJSON?

    /// The tool or prompt that the request names, or the address that it reads.
    var name: String? {
        let params = request?["params"]
        return (params?["name"] ?? params?["uri"])?.string
    }

    var bytes: [UInt8] {
        var writer = JSONWriter()
        writer.beginObject()
        writer.key("time")
        writer.string(time)
        if side == .server {
            writer.key("from")
            writer.string(side.rawValue)
        }
        writer.key("method")
        writer.string(method)
        if let message {
            writer.key("message")
            writer.raw(message)
        } else {
            if let name {
                writer.key("name")
                writer.string(name)
            }
            writer.key("outcome")
            writer.string(outcome ?? "unanswered")
            if let milliseconds {
                writer.key("ms")
                writer.number((milliseconds * 1000).rounded() / 1000)
            }
            writer.key("request")
            if let request { writer.raw(request) } else { writer.null() }
            writer.key("response")
            if let response { writer.raw(response) } else { writer.null() }
        }
        writer.endObject()
        return writer.finish().array + [UInt8(ascii: "\n")]
    }

    /// Returns the outcome that a response shows.
    static func outcome(of response: RawJSON) -> String {
        if response["error"] != nil { return "error" }
        return response["result"]?["isError"]?.bool == true ? "tool_error" : "ok"
    }
}

extension RecordedLine {
    /// Returns what a line lacks to be one of a recording; nil if it is one.
    static func problem(_ json: RawJSON) -> String? {
        if json.kind != .object { return "is not an object" }
        for name in ["time", "method"] where json[name]?.string == nil {
            return json[name] == nil ? "has no \"\(name)\"" : "has a \"\(name)\" that is not a string"
        }
        return RecordedLine(json) == nil ? "has neither a request nor a message" : nil
    }

    /// Reads a line; nil if it is none.
    init?(_ json: RawJSON) {
        guard let time = json["time"]?.string, let method = json["method"]?.string else { return nil }
        self.init(time: time, method: method)
        side = json["from"]?.string.flatMap(Side.init) ?? .client
        outcome = json["outcome"]?.string
        milliseconds = json["ms"]?.double
        func object(_ name: String) -> RawJSON? { json[name].flatMap { $0.kind == .object ? $0 : nil } }
        (request, response, message) = (object("request"), object("response"), object("message"))
        guard message != nil || json["request"] != nil else { return nil }
    }
}

/// The lines of a recording.
struct Recording: Sendable {
    /// The maximum number of lines.
    static let maxLines = 100_000

    let lines: [RecordedLine]

    /// Reads a file.
    ///
    /// - Throws: when it is not a recording, naming the line. A torn line is skipped.
    init(_ bytes: [UInt8], name: String) throws(Failure) {
        var lines: [RecordedLine] = []
        var torn: Failure?
        let texts = bytes.split(separator: UInt8(ascii: "\n"), omittingEmptySubsequences: false)
        for (index, text) in texts.enumerated() {
            if text.allSatisfy({ $0 == 0x20 || $0 == 0x0D || $0 == 0x09 }) { continue }
            do {
                let json = try RawJSON(validating: ByteSlice(Array(text)), limits: JSONLimits(maxDepth: 128))
                guard let line = RecordedLine(json) else {
                    throw Failure.usage(
                        "\(name) is not a recording",
                        details: ["line \(index + 1) \(RecordedLine.problem(json) ?? "is not one")"],
                        hint: "mcp-client tap -o FILE … writes recordings")
                }
                guard lines.count < Self.maxLines else {
                    throw Failure.usage("\(name) has more than \(Self.maxLines) lines")
                }
                lines.append(line)
            } catch let failure as Failure {
                throw failure
            } catch {
                // The writer may have been killed, and another one may have gone on in a line of its own.
                let reason = (error as? JSONError)?.reason
                let isTorn = reason == .unexpectedEnd || reason == .invalidUTF8
                let failure = Failure.usage(
                    "\(name) is not a recording", details: ["line \(index + 1): \(inlineText("\(error)"))"],
                    hint: "mcp-client tap -o FILE … writes recordings")
                guard isTorn || index == texts.count - 1 && !lines.isEmpty else { throw torn ?? failure }
                if lines.isEmpty { torn = torn ?? failure }
            }
        }
        if lines.isEmpty { throw torn ?? .usage("\(name) has no exchanges") }
        self.lines = lines
    }
}
