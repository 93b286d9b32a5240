import MCPCore
import Synchronization

/// A server of 2026-07-28 that answers as the test says.
final class HostilePeer: Sendable {
    final class Script: Sendable {
        let result = Mutex(#"{"content":[]}"#)
        let error = Mutex<String?>(nil)
        let reports = Mutex<[String]>([])
    }

    let script: Script
    private let peer: RawPeer

    var url: String { peer.url }
    func stop() { peer.stop() }

    var options: ClientOptions {
        var options = ClientOptions()
        options.protocol = .exactly(.newest)
        options.followsTasks = false
        return options
    }

    init() throws {
        let script = Script()
        self.script = script
        peer = try RawPeer { [Self.answer($0, script)] }
    }

    private static func answer(_ request: String, _ script: Script) -> [UInt8] {
        let start = request.firstIndex(of: "{") ?? request.startIndex
        guard let message = try? JSONValue(parsing: String(request[start...])), let id = message["id"] else {
            return Array("HTTP/1.1 202 Accepted\r\nContent-Length: 0\r\n\r\n".utf8)
        }
        var outcome = #""result":"#
        switch message["method"]?.stringValue {
        case "server/discover":
            outcome += #"{"resultType":"complete","ttlMs":0,"cacheScope":"public","#
            outcome += #""supportedVersions":["2026-07-28"],"capabilities":{"tools":{}}}"#
        case "tools/list":
            outcome +=
                #"{"ttlMs":0,"cacheScope":"public","tools":[{"name":"t","inputSchema":{"type":"object"}}]}"#
        default:
            if let error = script.error.withLock({ $0 }) {
                outcome = #""error":\#(error)"#
            } else {
                outcome += script.result.withLock { $0 }
            }
        }
        var body = ""
        let token = message["params"]?["_meta"]?["progressToken"]?.serialized() ?? id.serialized()
        for number in script.reports.withLock({ $0 }) {
            let params = #"{"progressToken":\#(token),"progress":\#(number),"total":\#(number)}"#
            body += #"data: {"jsonrpc":"2.0","method":"notifications/progress","params":\#(params)}"# + "\n"
            body += "retry: \(number)\n\n"
        }
        body += #"data: {"jsonrpc":"2.0","id":\#(id.serialized()),\#(outcome)}"# + "\n\n"
        // One that closes without saying so may lose a call that is not sent twice.
        let head =
            "HTTP/1.1 200 OK\r\nConnection: close\r\nContent-Type: text/event-stream\r\n"
            + "Content-Length: \(body.utf8.count)\r\n\r\n"
        return Array((head + body).utf8)
    }
}
