import MCPCore

/// The names of tools in the form that chat completions allow: `[A-Za-z0-9_-]{1,64}`.
///
/// A name that fits is kept; any other name is replaced by one that no other tool has.
struct ChatCompletionsNames: Sendable {
    private static let maxLength = 64

    private var sent: [String: String] = [:]
    private var own: [String: String] = [:]

    /// Assigns names to tools first, so that they are the same in all requests of a conversation.
    init(_ request: ModelRequest) {
        let tools = request.tools.map(\.name)
        let past = request.messages.flatMap { message -> [String] in
            switch message {
            case .user: []
            case .assistant(_, let calls): calls.map(\.name)
            case .toolResults(let results): results.map(\.name)
            }
        }
        for names in [tools, past] {
            for name in names where Self.fits(name) && own[name] == nil { add(name, as: name) }
            for name in names where sent[name] == nil { add(name, as: free(name)) }
        }
    }

    private mutating func add(_ name: String, as other: String) {
        guard sent[name] == nil else { return }
        sent[name] = other
        own[other] = name
    }

    /// Returns the request with the names as they are sent.
    func sent(_ request: ModelRequest) -> ModelRequest {
        var request = request
        for index in request.tools.indices {
            request.tools[index].name = sent(request.tools[index].name)
        }
        request.messages = request.messages.map { message in
            guard case .assistant(let text, var calls) = message else { return message }
            for index in calls.indices { calls[index].name = sent(calls[index].name) }
            return .assistant(text, calls)
        }
        return request
    }

    /// Returns the harness's name for a name used by the model; a name without a tool is returned unchanged.
    func own(_ name: String) -> String { own[name] ?? name }

    private func sent(_ name: String) -> String { sent[name] ?? name }

    private static func fits(_ name: String) -> Bool {
        (1 ... maxLength).contains(name.utf8.count) && name.utf8.allSatisfy(isAllowed)
    }

    private static func isAllowed(_ byte: UInt8) -> Bool {
        switch byte {
        case UInt8(ascii: "a") ... UInt8(ascii: "z"), UInt8(ascii: "A") ... UInt8(ascii: "Z"),
            UInt8(ascii: "0") ... UInt8(ascii: "9"), UInt8(ascii: "_"), UInt8(ascii: "-"):
            true
        default: false
        }
    }

    private func free(_ name: String) -> String {
        let bytes = name.utf8.map { Self.isAllowed($0) ? $0 : UInt8(ascii: "_") }
        let plain = bytes.isEmpty ? "_" : String(decoding: bytes, as: UTF8.self)
        var candidate = String(plain.prefix(Self.maxLength))
        var number = 1
        while own[candidate] != nil {
            number += 1
            candidate = plain.prefix(Self.maxLength - "_\(number)".count) + "_\(number)"
        }
        return candidate
    }
}
