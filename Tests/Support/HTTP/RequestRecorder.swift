import Dispatch
import Synchronization

/// Listens on a port and notes every request: what a view must not reach, or may.
package final class RequestRecorder: Sendable {
    private let descriptor: Int32
    package let port: UInt16
    private let seen = Mutex<[String]>([])
    private let ended = DispatchSemaphore(value: 0)

    package init() throws {
        (descriptor, port) = try BlockingSocket.listen()
        TestThread.run { [self] in accept() }
    }

    package var origin: String { "http://127.0.0.1:\(port)" }

    /// `GET /path` of each request so far.
    package var requests: [String] { seen.withLock { $0 } }

    /// Returns when the port is free again.
    package func stop() {
        BlockingSocket.shutDown(descriptor)
        _ = ended.wait(timeout: .now() + .seconds(5))
    }

    private func accept() {
        while let connection = BlockingSocket.accept(descriptor, waitingAtMost: 5) {
            TestThread.run { [self] in serve(connection) }
        }
        // Here and not in `stop`: the number may be somebody else's as soon as it is closed.
        BlockingSocket.close(descriptor)
        ended.signal()
    }

    /// Answers in a way that every page may read.
    private func serve(_ connection: Int32) {
        defer { BlockingSocket.close(connection) }
        var text = ""
        while !text.contains("\r\n\r\n") {
            // A connection without a request, such as a browser opens in advance, is none.
            guard let bytes = BlockingSocket.receive(connection), !bytes.isEmpty else { return }
            text += String(decoding: bytes, as: UTF8.self)
        }
        let words = text.split(separator: " ", maxSplits: 2)
        seen.withLock { $0.append(words.prefix(2).joined(separator: " ")) }
        _ = BlockingSocket.send(
            connection,
            """
            HTTP/1.1 200 OK\r
            Access-Control-Allow-Origin: *\r
            Access-Control-Allow-Headers: *\r
            Content-Type: text/plain\r
            Content-Length: 2\r
            Connection: close\r
            \r
            ok
            """.utf8)
    }
}
