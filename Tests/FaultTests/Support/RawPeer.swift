import Dispatch
import Synchronization

@testable import MCPCore

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
        guard let any = SocketAddress(numeric: "127.0.0.1", port: 0) else {
            throw FaultTestError("no address")
        }
        let listener = try Syscalls.streamSocket(AF_INET)
        try Syscalls.bind(listener.rawValue, to: any)
        try Syscalls.listen(listener.rawValue, backlog: 16)
        port = try Syscalls.localAddress(listener.rawValue)?.port ?? 0
        self.listener = consume listener
        DispatchQueue(label: "mcp.test.peer").async { self.run(answer) }
    }

    var url: String { "http://127.0.0.1:\(port)/mcp" }

    func stop() { isOver.store(true, ordering: .releasing) }

    private func run(_ answer: @Sendable (String) -> any Sequence<[UInt8]>) {
        let deadline = Deadline(.seconds(60))
        while !isOver.load(ordering: .acquiring), !deadline.isOver {
            guard (try? Deadline(.milliseconds(50)).wait(for: [(listener.rawValue, Int32(POLLIN))])) != nil,
                let connection = try? Syscalls.accept(listener.rawValue)
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
                    let count = unsafe try? rest.withUnsafeBytes({ (bytes) throws(IOError) in
                        unsafe try Syscalls.send(connection, bytes)
                    })
                else { return }
                rest = rest.dropFirst(count)
            }
        }
    }

    /// One request with its body.
    private func read(_ connection: Int32) throws -> String {
        let deadline = Deadline(.seconds(10))
        var bytes = ByteBuffer()
        while true {
            _ = try deadline.wait(for: [(connection, Int32(POLLIN))])
            let count = unsafe try bytes.take { (room) throws(IOError) in
                unsafe try Syscalls.receive(connection, into: room)
            }
            if count == 0 { throw FaultTestError("the client closed") }
            let all = Array(bytes.slice(0 ..< bytes.count))
            guard let end = all.firstEnd(of: Array("\r\n\r\n".utf8), from: 0) else { continue }
            let head = String(decoding: all[..<end], as: UTF8.self).lowercased()
            let length = head.split(separator: "\r\n").first { $0.hasPrefix("content-length:") }
                .flatMap { Int($0.drop { !$0.isNumber }) }
            if all.count >= end + (length ?? 0) { return String(decoding: all, as: UTF8.self) }
        }
    }
}
