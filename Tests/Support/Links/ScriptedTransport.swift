import Synchronization

@testable package import MCPCore

/// A server made of a closure: it sees each message and answers through the inbox as a transport would.
package final class ScriptedTransport: ClientTransport {
    /// One step of an answer.
    package enum Step: Sendable {
        /// A message comes on the exchange, or on the shared channel. `ID` in it stands for the request's id.
        case message(String, status: Int? = nil)
        case failure(ClientError)
        case closed(ClientError)
    }

    package struct Sent: Sendable {
        package let id: Int64?
        package let message: OutboundMessage
        package var json: RawJSON { RawJSON(unchecked: message.bytes) }
    }

    private struct State {
        var inbox: (any ClientInbox)?
        var sent: [Sent] = []
        var abandoned: [Int64] = []
        var closings = 0
        var answered = 0
    }

    package let isHTTP: Bool
    private let script: @Sendable (Sent) -> [Step]
    /// What the sender of a message without a response waits for.
    private let taking: @Sendable (_ method: String) async -> Void
    private let state = Mutex(State())

    package init(
        isHTTP: Bool = false, taking: @escaping @Sendable (_ method: String) async -> Void = { _ in },
        _ script: @escaping @Sendable (Sent) -> [Step]
    ) {
        self.isHTTP = isHTTP
        self.taking = taking
        self.script = script
    }

    package var sent: [Sent] { state.withLock { $0.sent } }
    package var methods: [String] { sent.map(\.message.method) }
    /// How many messages have been answered, as far as the script answers them.
    package var answered: Int { state.withLock { $0.answered } }
    package var abandoned: [Int64] { state.withLock { $0.abandoned } }
    package var closings: Int { state.withLock { $0.closings } }

    package var target: ClientTarget { ClientTarget("script") { (_) throws(ClientError) in self }.recorded() }

    package func start(_ inbox: any ClientInbox) { state.withLock { $0.inbox = inbox } }

    package func send(_ message: OutboundMessage, id: Int64) { take(Sent(id: id, message: message)) }

    package func post(_ message: OutboundMessage) async throws(ClientError) {
        take(Sent(id: nil, message: message))
        await taking(message.method)
    }

    package func abandon(_ id: Int64, notice: OutboundMessage?) {
        state.withLock { $0.abandoned.append(id) }
        if let notice { take(Sent(id: nil, message: notice)) }
    }

    package func close() async { shutDown() }

    package func shutDown() {
        state.withLock { state in
            state.closings += 1
            state.inbox = nil
        }
    }

    /// Something that the server sends unasked.
    package func push(_ text: String) {
        state.withLock { $0.inbox }?.receive(ByteSlice(text), exchange: nil, status: nil)
    }

    private func take(_ sent: Sent) {
        let inbox = state.withLock { state in
            state.sent.append(sent)
            return state.inbox
        }
        for step in script(sent) {
            switch step {
            case .message(let text, let status):
                let bytes = ByteSlice(text.replacing("ID", with: sent.id.map { "\($0)" } ?? "null"))
                inbox?.receive(bytes, exchange: isHTTP ? sent.id : nil, status: status)
            case .failure(let error): if let id = sent.id { inbox?.fail(id, error) }
            case .closed(let error): inbox?.connectionClosed(error)
            }
        }
        state.withLock { $0.answered += 1 }
    }
}

/// Answers that many scripts give.
package enum Script {
    package static func result(_ json: String) -> ScriptedTransport.Step {
        .message(#"{"jsonrpc":"2.0","id":ID,"result":\#(json)}"#)
    }

    package static func error(_ code: Int, _ data: String = "null", status: Int? = nil)
        -> ScriptedTransport.Step
    {
        .message(
            #"{"jsonrpc":"2.0","id":ID,"error":{"code":\#(code),"message":"no","data":\#(data)}}"#,
            status: status)
    }

    package static let discovered =
        #"{"resultType":"complete","supportedVersions":["2026-07-28"],"capabilities":{"tools":{}},"#
        + #""ttlMs":0,"cacheScope":"private","#
        + #""_meta":{"io.modelcontextprotocol/serverInfo":{"name":"s","version":"1"}}}"#

    package static func progress(_ token: String, _ progress: String = "1") -> String {
        #"{"jsonrpc":"2.0","method":"notifications/progress","#
            + #""params":{"progressToken":\#(token),"progress":\#(progress)}}"#
    }

    package static func initialized(_ version: String = "2025-11-25", capabilities: String = "{}") -> String {
        #"{"protocolVersion":"\#(version)","capabilities":\#(capabilities),"#
            + #""serverInfo":{"name":"old","version":"2"}}"#
    }

    /// A page of a list of tools, which are given as JSON.
    package static func tools(_ tools: String..., ttl: Int = 0, next: String? = nil) -> ScriptedTransport.Step
    {
        let cursor = next.map { #","nextCursor":"\#($0)""# } ?? ""
        return result(
            #"{"resultType":"complete","ttlMs":\#(ttl),"cacheScope":"private","#
                + #""tools":[\#(tools.joined(separator: ","))]\#(cursor)}"#)
    }

    package static let done = #"{"resultType":"complete","content":[{"type":"text","text":"done"}]}"#

    /// A modern server that answers everything else by `other`.
    package static func modern(
        isHTTP: Bool = false,
        _ other: @escaping @Sendable (ScriptedTransport.Sent) -> [ScriptedTransport.Step]
    ) -> ScriptedTransport {
        ScriptedTransport(isHTTP: isHTTP) { sent in
            sent.message.method == "server/discover" ? [result(discovered)] : other(sent)
        }
    }

    /// A legacy server that answers everything else by `other`.
    package static func legacy(
        _ version: String = "2025-11-25", isHTTP: Bool = false, capabilities: String = "{}",
        taking: @escaping @Sendable (_ method: String) async -> Void = { _ in },
        _ other: @escaping @Sendable (ScriptedTransport.Sent) -> [ScriptedTransport.Step]
    ) -> ScriptedTransport {
        ScriptedTransport(isHTTP: isHTTP, taking: taking) { sent in
            switch sent.message.method {
            case "server/discover": [error(-32601)]
            case "initialize": [result(initialized(version, capabilities: capabilities))]
            case "notifications/initialized": []
            default: other(sent)
            }
        }
    }
}

package func clientError(_ body: () async throws -> Void) async -> ClientError? {
    do { try await body() } catch let error as ClientError { return error } catch {}
    return nil
}
