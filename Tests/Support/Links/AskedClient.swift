package import MCPCore
import Synchronization

/// What an asked client does with a question.
package enum TestAnswer: Sendable {
    case result(JSONValue)
    /// Handshake revisions only: there a question is a request.
    case error(code: Int, String)
    /// Nothing; in 2026-07-28 the call is not sent again.
    case silence

    package static func accept(_ content: JSONObject) -> TestAnswer {
        .result(["action": "accept", "content": .object(content)])
    }
    package static let decline = TestAnswer.result(["action": "decline"])
    package static let cancel = TestAnswer.result(["action": "cancel"])
    package static func said(_ text: String) -> TestAnswer {
        .result([
            "role": "assistant", "content": ["type": "text", "text": .string(text)], "model": "m",
            "stopReason": "endTurn",
        ])
    }
    package static func roots(_ uris: String...) -> TestAnswer {
        .result(["roots": .array(uris.map { ["uri": .string($0)] })])
    }
}

/// A raw client that answers questions, as its revision does it: so one test body serves both eras.
package final class AskedClient: Sendable {
    /// A question as it came.
    package struct Asked: Sendable {
        /// In 2026-07-28 only.
        package var key: String?
        /// In the handshake revisions only.
        package var id: JSONValue?
        package var method: String
        package var params: RawJSON?
        package var message: String? { params?["message"]?.string }
    }

    package static let everything: JSONObject = [
        "roots": [:], "sampling": ["tools": [:]], "elicitation": ["form": [:], "url": [:]],
    ]

    package let raw: RawClient
    private let answering: @Sendable (Asked) async -> TestAnswer
    private let log = Mutex<[Asked]>([])
    private let rounds = Mutex<[RawJSON]>([])

    package init(_ raw: RawClient, _ answering: @escaping @Sendable (Asked) async -> TestAnswer) {
        self.raw = raw
        self.answering = answering
        raw.listen { [weak self] message in self?.hear(message) }
    }

    /// Everything that was asked, in order.
    package var asked: [Asked] { log.withLock { $0 } }
    /// The results of 2026-07-28 that asked for input.
    package var inputRequired: [RawJSON] { rounds.withLock { $0 } }

    private func hear(_ message: RawJSON) {
        guard let id = message["id"]?.value, let method = message["method"]?.string else { return }
        let asked = Asked(id: id, method: method, params: message["params"])
        log.withLock { $0.append(asked) }
        Task {
            switch await answering(asked) {
            case .result(let result): await respond(id, ["result": result])
            case .error(let code, let text):
                await respond(id, ["error": ["code": JSONValue(code), "message": .string(text)]])
            case .silence: break
            }
        }
    }

    /// Sends a response to a request of the server.
    @discardableResult
    package func respond(_ id: JSONValue, _ outcome: JSONObject) async -> RawReply {
        var message: JSONObject = ["jsonrpc": "2.0", "id": id]
        for (key, value) in outcome { message[key] = value }
        return await raw.send(text: JSONValue.object(message).serialized())
    }

    /// Sends a request and answers what it asks, until it is over.
    package func request(_ method: String, _ params: JSONObject, id: JSONValue? = nil) async -> RawReply {
        var next = params
        for _ in 0 ..< 10 {
            let reply = await raw.request(method, next, id: id ?? raw.nextID())
            guard let result = reply.result, result["resultType"]?.string == "input_required" else {
                return reply
            }
            rounds.withLock { $0.append(result) }
            next = params
            if let state = result["requestState"] { next["requestState"] = state.value }
            var answers = JSONObject()
            for (key, entry) in result["inputRequests"]?.value.objectValue ?? [:] {
                let asked = Asked(
                    key: key, method: entry["method"]?.stringValue ?? "",
                    params: entry["params"].map { RawJSON($0) })
                log.withLock { $0.append(asked) }
                guard case .result(let answer) = await answering(asked) else { return reply }
                answers[key] = answer
            }
            next["inputResponses"] = .object(answers)
        }
        return RawReply()
    }

    package func call(_ tool: String, _ arguments: JSONObject = [:], id: JSONValue? = nil) async -> RawReply {
        await request("tools/call", ["name": .string(tool), "arguments": .object(arguments)], id: id)
    }
}
