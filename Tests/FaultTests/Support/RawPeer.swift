import Dispatch
import MCPCore
import Synchronization
import TestSupport

#if canImport(Darwin)
import Darwin
#elseif canImport(Musl)
import Musl
#else
import Glibc
#endif

/// A server that answers every request with bytes of the test's choice: the malicious peer of a client.
final class RawPeer: Sendable {
    private let listener: FileDescriptor
    let port: UInt16
    /// The requests that came, as text.
    let requests = Mutex<[String]>([])
    private let isOver = Atomic<Bool>(false)

    /// - Parameter answer: the pieces of the answer to a request; an endless one ends when the client closes.
    init(_ answer: @escaping @Sendable (_ request: String) -> any Sequence<[UInt8]>) throws {
        let listener = try TCP.listen()
        port = try TCP.port(of: listener.rawValue)
        self.listener = consume listener
        DispatchQueue(label: "mcp.test.peer").async { self.run(answer) }
    }

    var url: String { "http://127.0.0.1:\(port)/mcp" }

    func stop() { isOver.store(true, ordering: .releasing) }

    private func run(_ answer: @Sendable (String) -> any Sequence<[UInt8]>) {
        let deadline = Deadline(.seconds(60))
        while !isOver.load(ordering: .acquiring), !deadline.isOver {
            guard (try? Deadline(.milliseconds(50)).wait(for: [(listener.rawValue, Int32(POLLIN))])) != nil,
                let connection = try? TCP.accept(listener.rawValue)
            else { continue }
            serve(connection.rawValue, answer)
        }
    }

    private func serve(_ connection: Int32, _ answer: @Sendable (String) -> any Sequence<[UInt8]>) {
        guard let request = try? read(connection) else { return }
        requests.withLock { $0.append(request) }
        for piece in answer(request) {
            var rest = piece[...]
            while !rest.isEmpty {
                guard (try? Deadline(.seconds(10)).wait(for: [(connection, Int32(POLLOUT))])) != nil,
                    let count = try? TCP.send(connection, rest)
                else { return }
                rest = rest.dropFirst(count)
            }
        }
    }

    /// One request with its body.
    private func read(_ connection: Int32) throws -> String {
        let deadline = Deadline(.seconds(10))
        var all: [UInt8] = []
        while true {
            _ = try deadline.wait(for: [(connection, Int32(POLLIN))])
            let piece = try TCP.receive(connection)
            if piece?.isEmpty == true { throw FaultTestError("the client closed") }
            all += piece ?? []
            guard let end = all.firstEnd(of: Array("\r\n\r\n".utf8), from: 0) else { continue }
            let head = String(decoding: all[..<end], as: UTF8.self).lowercased()
            let length = head.split(separator: "\r\n").first { $0.hasPrefix("content-length:") }
                .flatMap { Int($0.drop { !$0.isNumber }) }
            if all.count >= end + (length ?? 0) { return String(decoding: all, as: UTF8.self) }
        }
    }
}
