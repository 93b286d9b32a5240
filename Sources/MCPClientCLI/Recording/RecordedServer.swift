import MCPCore
import Synchronization

/// A server that answers as a recorded one did.
///
/// A request is answered by the exchange with the same method and parameters, apart from `_meta`. If several
/// are recorded they are used in order, and the last one from then on. A recording that starts in the middle
/// of a conversation has no handshake and no lists; those are made from what is recorded.
final class RecordedServer: Sendable {
    private struct Key: Hashable {
        let method: String
        let params: JSONValue
    }

    private struct State {
        /// The exchanges of each request that were not used yet; the last one stays.
        var exchanges: [Key: ArraySlice<RawJSON>] = [:]
    }

    private let state: Mutex<State>
    /// The first response to each method.
    private let first: [String: RawJSON]
    /// The names of the tools and prompts that were used, and the addresses that were read.
    private let used: [String: [String]]
    /// Those of them whose requests have something that was redacted.
    private let redacted: [String: Set<String>]
    private let mask = MessageMask()

    init(_ recording: Recording) {
        var exchanges: [Key: [RawJSON]] = [:]
        var first: [String: RawJSON] = [:]
        var used: [String: [String]] = [:]
        var redacted: [String: Set<String>] = [:]
        for line in recording.lines where line.side == .client {
            guard let request = line.request, let response = line.response else { continue }
            exchanges[Self.key(line.method, request, MessageMask()), default: []].append(response)
            if first[line.method] == nil, response["result"] != nil { first[line.method] = response }
            // By bytes: two spellings of one letter are two names.
            if let name = line.name,
                used[line.method]?.contains(where: { $0.utf8.elementsEqual(name.utf8) }) != true
            {
                used[line.method, default: []].append(name)
            }
            if let name = line.name, MessageMask.hasMask(request.value) {
                redacted[line.method, default: []].insert(name)
            }
        }
        state = Mutex(State(exchanges: exchanges.mapValues { $0[...] }))
        self.first = first
        self.used = used
        self.redacted = redacted
    }

    private static func key(_ method: String, _ request: RawJSON, _ mask: MessageMask) -> Key {
        var params = request["params"]?.value.objectValue ?? [:]
        params["_meta"] = nil
        // An absent object is an empty one.
        if params["arguments"]?.objectValue?.isEmpty == true { params["arguments"] = nil }
        return Key(method: method, params: mask.masked(.object(params)))
    }

    /// Returns the answer to a message; nil for one that has none.
    func answer(to bytes: [UInt8]) -> [UInt8]? {
        guard let message = try? RawJSON(validating: ByteSlice(bytes), limits: JSONLimits(maxDepth: 128)),
            message.kind == .object
        else { return Self.error(.null, MCPError.parseErrorCode, "the message is not a JSON object") }
        guard let id = message["id"], !id.isNull else { return nil }
        // A response to a question that this server has never asked.
        guard let method = message["method"]?.string else { return nil }
        let key = Self.key(method, message, mask)
        let recorded = state.withLock { state -> RawJSON? in
            guard var left = state.exchanges[key] else { return nil }
            if left.count > 1 {
                let next = left.removeFirst()
                state.exchanges[key] = left
                return next
            }
            return left.first
        }
        if let recorded { return Self.message(recorded, id) }
        return substitute(method, message, id)
    }

    /// Returns the answer to a request that is not recorded like that.
    private func substitute(_ method: String, _ message: RawJSON, _ id: RawJSON) -> [UInt8] {
        let params = message["params"]
        switch method {
        case "server/discover", "initialize":
            // Each client introduces itself in its own way, and those of older revisions know one way only.
            if method == "initialize" {
                return Self.result(opening(params?["protocolVersion"]?.string), id)
            }
            if let response = first[method] { return Self.message(response, id) }
            if first["initialize"] == nil { return Self.result(discovery, id) }
            return Self.error(id, MCPError.methodNotFoundCode, "Method not found")
        case "ping", "logging/setLevel", "resources/subscribe", "resources/unsubscribe":
            return Self.result([:], id)
        case "tools/list", "prompts/list", "resources/list", "resources/templates/list":
            if params?["cursor"] == nil { return Self.result(list(method), id) }
            return Self.error(id, MCPError.invalidParamsCode, "this page is not in the recording")
        default:
            let name = (params?["name"] ?? params?["uri"])?.string
            let names = used[method] ?? []
            var text = "\(method) is not in the recording"
            if let name {
                text =
                    names.contains(name)
                    ? "\(name) is in the recording with other arguments" : "\(name) is not in the recording"
                if redacted[method]?.contains(name) == true {
                    text += "; what was redacted there matches [redacted] only"
                }
                if method == "tools/call", names.contains(name), first["tools/list"] == nil {
                    text += "; it has no list of tools, so their types are not known: NAME:=JSON sets one"
                }
            }
            let code =
                first[method] == nil && names.isEmpty
                ? MCPError.methodNotFoundCode : MCPError.invalidParamsCode
            return Self.error(id, code, text)
        }
    }

    // MARK: What a recording lacks

    private var capabilities: JSONValue {
        var object: JSONObject = [:]
        if first["tools/list"] != nil || used["tools/call"] != nil { object["tools"] = [:] }
        if first["prompts/list"] != nil || used["prompts/get"] != nil { object["prompts"] = [:] }
        if first["resources/list"] != nil || used["resources/read"] != nil { object["resources"] = [:] }
        return .object(object)
    }

    private var discovery: JSONValue {
        [
            "resultType": "complete", "supportedVersions": ["2026-07-28"], "capabilities": capabilities,
            "ttlMs": 0, "cacheScope": "private",
            "_meta": ["io.modelcontextprotocol/serverInfo": ["name": "recording", "version": "1"]],
        ]
    }

    /// The result of `initialize`, as it was recorded, or made of `server/discover`, in the revision that the
    /// client wants.
    private func opening(_ version: String?) -> JSONValue {
        let wanted = version.flatMap { text in
            let version = ProtocolVersion(text)
            return version.isKnown && !version.isModern ? text : nil
        }
        if var result = first["initialize"]?["result"]?.value.objectValue {
            if let wanted { result["protocolVersion"] = .string(wanted) }
            return .object(result)
        }
        let found = first["server/discover"]?["result"]?.value
        var result: JSONObject = [
            "protocolVersion": .string(wanted ?? "2025-11-25"),
            "capabilities": found?["capabilities"] ?? capabilities,
            "serverInfo": found?["_meta"]?["io.modelcontextprotocol/serverInfo"]
                ?? ["name": "recording", "version": "1"],
        ]
        if let instructions = found?["instructions"] { result["instructions"] = instructions }
        return .object(result)
    }

    private func list(_ method: String) -> JSONValue {
        var result: JSONObject = ["resultType": "complete", "ttlMs": 0, "cacheScope": "private"]
        switch method {
        case "tools/list":
            result["tools"] = .array(
                (used["tools/call"] ?? []).map { ["name": .string($0), "inputSchema": ["type": "object"]] })
        case "prompts/list":
            result["prompts"] = .array((used["prompts/get"] ?? []).map { ["name": .string($0)] })
        case "resources/list":
            result["resources"] = .array(
                (used["resources/read"] ?? []).map { ["uri": .string($0), "name": .string($0)] })
        default: result["resourceTemplates"] = []
        }
        return .object(result)
    }

    // MARK: Messages

    /// Returns a recorded response with the id of the request.
    private static func message(_ response: RawJSON, _ id: RawJSON) -> [UInt8] {
        var writer = JSONWriter()
        writer.beginObject()
        writer.key("jsonrpc")
        writer.string("2.0")
        writer.key("id")
        writer.raw(id)
        if let error = response["error"] {
            writer.key("error")
            writer.raw(error)
        } else {
            writer.key("result")
            if let result = response["result"] { writer.raw(result) } else { writer.value([:]) }
        }
        writer.endObject()
        return writer.finish().array
    }

    private static func result(_ value: JSONValue, _ id: RawJSON) -> [UInt8] {
        message(RawJSON(["result": value]), id)
    }

    private static func error(_ id: RawJSON, _ code: Int, _ text: String) -> [UInt8] {
        message(RawJSON(["error": ["code": JSONValue(code), "message": .string(text)]]), id)
    }
}

/// The connection to a recorded server in this process.
struct RecordedTransport: MessageTransport {
    /// The answers that wait to be received: as many as there may be requests at the same time.
    private static let maxAnswers = 10_000

    private let server: RecordedServer
    private let answers: AsyncStream<[UInt8]>
    private let continuation: AsyncStream<[UInt8]>.Continuation

    init(_ recording: Recording) {
        server = RecordedServer(recording)
        (answers, continuation) = AsyncStream.makeStream(bufferingPolicy: .bufferingOldest(Self.maxAnswers))
    }

    func send(_ message: [UInt8]) async {
        if let answer = server.answer(to: message) { continuation.yield(answer) }
    }

    func receive() async -> [UInt8]? {
        for await answer in answers { return answer }
        return nil
    }

    func close() async { continuation.finish() }
}
