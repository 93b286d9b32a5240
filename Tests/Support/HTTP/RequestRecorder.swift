import Foundation
import Synchronization

/// Listens on a port and notes every request: what a view must not reach, or may.
package final class RequestRecorder: Sendable {
    private let descriptor: Int32
    package let port: UInt16
    private let seen = Mutex<[String]>([])
    private let ended = DispatchSemaphore(value: 0)

    package init() throws {
        descriptor = socket(AF_INET, Int32(SOCK_STREAM.rawValue), 0)
        var address = sockaddr_in()
        address.sin_family = sa_family_t(AF_INET)
        address.sin_addr.s_addr = UInt32(0x7F00_0001).bigEndian
        var size = socklen_t(MemoryLayout<sockaddr_in>.size)
        let (descriptor, length) = (descriptor, size)
        let bound = unsafe withUnsafeMutablePointer(to: &address) { pointer in
            unsafe pointer.withMemoryRebound(to: sockaddr.self, capacity: 1) { address in
                guard unsafe bind(descriptor, address, length) == 0, listen(descriptor, 64) == 0 else {
                    return false
                }
                return unsafe getsockname(descriptor, address, &size) == 0
            }
        }
        port = UInt16(bigEndian: address.sin_port)
        guard bound else { throw PlainConnection.Failure(description: "cannot listen") }
        Thread.detachNewThread { [self] in accept() }
    }

    package var origin: String { "http://127.0.0.1:\(port)" }

    /// `GET /path` of each request so far.
    package var requests: [String] { seen.withLock { $0 } }

    /// Returns when the port is free again.
    package func stop() {
        shutdown(descriptor, Int32(SHUT_RDWR))
        _ = ended.wait(timeout: .now() + .seconds(5))
    }

    private func accept() {
        while true {
            let connection = Foundation.accept(descriptor, nil, nil)
            guard connection >= 0 else { break }
            Thread.detachNewThread { [self] in serve(connection) }
        }
        // Here and not in `stop`: the number may be somebody else's as soon as it is closed.
        close(descriptor)
        ended.signal()
    }

    /// Answers in a way that every page may read.
    private func serve(_ connection: Int32) {
        defer { close(connection) }
        var wait = timeval(tv_sec: 5, tv_usec: 0)
        _ = unsafe setsockopt(
            connection, SOL_SOCKET, SO_RCVTIMEO, &wait, socklen_t(MemoryLayout<timeval>.size))
        var text = ""
        var buffer = [UInt8](repeating: 0, count: 16 << 10)
        while !text.contains("\r\n\r\n") {
            let count = unsafe buffer.withUnsafeMutableBytes {
                unsafe recv(connection, $0.baseAddress, $0.count, 0)
            }
            // A connection without a request, such as a browser opens in advance, is none.
            guard count > 0 else { return }
            text += String(decoding: buffer[..<count], as: UTF8.self)
        }
        let words = text.split(separator: " ", maxSplits: 2)
        seen.withLock { $0.append(words.prefix(2).joined(separator: " ")) }
        let answer = Array(
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
        _ = unsafe answer.withUnsafeBytes {
            unsafe send(connection, $0.baseAddress, $0.count, Int32(MSG_NOSIGNAL))
        }
    }
}
