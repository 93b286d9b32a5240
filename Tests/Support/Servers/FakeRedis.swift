import Synchronization

/// A peer that speaks RESP2 by a script: what a command is answered with, byte for byte.
package final class FakeRedis: Sendable {
    /// The reply to a command; nil says nothing.
    package typealias Script = @Sendable (_ command: [String]) -> String?

    private struct State {
        var heard: [[String]] = []
        var connections = 0
        var script: Script
    }

    private final class Shared: Sendable {
        let state: Mutex<State>
        init(_ script: @escaping Script) { state = Mutex(State(script: script)) }
    }

    private let shared: Shared
    private let listener: BareListener

    package var port: UInt16 { listener.port }
    package var address: String { "redis://127.0.0.1:\(port)" }
    /// All commands, in the order in which they came.
    package var heard: [[String]] { shared.state.withLock { $0.heard } }
    /// The commands other than those that a connection begins with.
    package var commands: [[String]] { heard.filter { !["AUTH", "SELECT", "PING"].contains($0.first) } }
    package var connections: Int { shared.state.withLock { $0.connections } }

    package init(_ script: @escaping Script = FakeRedis.obliging) throws {
        let shared = Shared(script)
        self.shared = shared
        listener = try BareListener { descriptor in
            shared.state.withLock { $0.connections += 1 }
            var bytes: [UInt8] = []
            while let more = BlockingSocket.receive(descriptor), !more.isEmpty {
                bytes += more
                while let (command, count) = Self.command(bytes[...]) {
                    bytes.removeFirst(count)
                    let script = shared.state.withLock { state in
                        state.heard.append(command)
                        return state.script
                    }
                    if let reply = script(command) { _ = BlockingSocket.send(descriptor, reply.utf8) }
                }
            }
        }
    }

    /// Answers in another way from now on.
    package func answer(_ script: @escaping Script) { shared.state.withLock { $0.script = script } }

    package func stop() { listener.stop() }

    /// Says that everything was done, and that there are no values.
    package static let obliging: Script = { command in
        switch command.first {
        case "PING": "+PONG\r\n"
        case "GET": "$-1\r\n"
        case "DEL": ":1\r\n"
        default: "+OK\r\n"
        }
    }

    /// Answers the commands that a connection begins with, and everything else like this.
    package static func ready(_ reply: @escaping Script) -> Script {
        { command in
            ["AUTH", "SELECT", "PING"].contains(command.first) ? obliging(command) : reply(command)
        }
    }

    private static func command(_ bytes: ArraySlice<UInt8>) -> (words: [String], count: Int)? {
        var rest = bytes
        func line() -> String? {
            guard let end = rest.firstIndex(of: UInt8(ascii: "\n")) else { return nil }
            defer { rest = rest[(end + 1)...] }
            return String(decoding: rest[rest.startIndex ..< end - 1], as: UTF8.self)
        }
        guard let head = line(), let count = Int(head.dropFirst()) else { return nil }
        var words: [String] = []
        for _ in 0 ..< count {
            guard let head = line(), let length = Int(head.dropFirst()), rest.count >= length + 2 else {
                return nil
            }
            words.append(String(decoding: rest.prefix(length), as: UTF8.self))
            rest = rest.dropFirst(length + 2)
        }
        return (words, bytes.count - rest.count)
    }
}
