import Synchronization

/// Listens on a port and notes every request: what a view must not reach, or may.
package final class RequestRecorder: Sendable {
    private let listener: BareListener
    private let seen: Seen

    private final class Seen: Sendable {
        let requests = Mutex<[String]>([])
    }

    package init() throws {
        let seen = Seen()
        self.seen = seen
        listener = try BareListener(waitingAtMost: 5) { connection, _ in Self.serve(connection, seen) }
    }

    package var port: UInt16 { listener.port }
    package var origin: String { "http://127.0.0.1:\(port)" }

    /// `GET /path` of each request so far.
    package var requests: [String] { seen.requests.withLock { $0 } }

    /// Returns when the port is free again.
    package func stop() { listener.stopAndWait() }

    /// Answers in a way that every page may read.
    private static func serve(_ connection: Int32, _ seen: Seen) {
        var text = ""
        while !text.contains("\r\n\r\n") {
            // A connection without a request, such as a browser opens in advance, is none.
            guard let bytes = BlockingSocket.receive(connection), !bytes.isEmpty else { return }
            text += String(decoding: bytes, as: UTF8.self)
        }
        let words = text.split(separator: " ", maxSplits: 2)
        seen.requests.withLock { $0.append(words.prefix(2).joined(separator: " ")) }
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
