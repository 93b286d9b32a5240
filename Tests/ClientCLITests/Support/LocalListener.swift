import Dispatch
import Foundation
import Synchronization

/// A listening socket on the loopback address, and a server that answers every request with the same bytes.
final class LocalListener: Sendable {
    private let descriptor: Int32
    private let isServing = Atomic(false)
    let port: Int

    init() throws {
        let descriptor = socket(AF_INET, Int32(SOCK_STREAM.rawValue), 0)
        self.descriptor = descriptor
        var address = sockaddr_in()
        address.sin_family = sa_family_t(AF_INET)
        address.sin_addr.s_addr = UInt32(0x7F00_0001).bigEndian
        let size = socklen_t(MemoryLayout<sockaddr_in>.size)
        let bound = unsafe withUnsafePointer(to: &address) { pointer in
            unsafe pointer.withMemoryRebound(to: sockaddr.self, capacity: 1) {
                unsafe bind(descriptor, $0, size)
            }
        }
        guard bound == 0, listen(descriptor, 16) == 0 else { throw CocoaError(.fileWriteUnknown) }
        var length = size
        _ = unsafe withUnsafeMutablePointer(to: &address) { pointer in
            unsafe pointer.withMemoryRebound(to: sockaddr.self, capacity: 1) {
                unsafe getsockname(descriptor, $0, &length)
            }
        }
        port = Int(UInt16(bigEndian: address.sin_port))
    }

    /// Whoever serves closes it: the number may be somebody else's as soon as it is closed.
    func close() {
        _ = shutdown(descriptor, Int32(SHUT_RDWR))
        if !isServing.load(ordering: .relaxed) { _ = Foundation.close(descriptor) }
    }

    /// Answers each connection once and closes it.
    func serve(_ response: String) {
        isServing.store(true, ordering: .relaxed)
        Thread.detachNewThread { [descriptor] in
            while true {
                let connection = accept(descriptor, nil, nil)
                guard connection >= 0 else {
                    _ = Foundation.close(descriptor)
                    return
                }
                Self.readRequest(connection)
                let bytes = Array(response.utf8)
                _ = unsafe bytes.withUnsafeBytes { unsafe write(connection, $0.baseAddress, $0.count) }
                _ = Foundation.close(connection)
            }
        }
    }

    /// Reads the head and as many bytes as it announces.
    private static func readRequest(_ connection: Int32) {
        var received = ""
        var buffer = [UInt8](repeating: 0, count: 64 << 10)
        while true {
            if let end = received.range(of: "\r\n\r\n") {
                let head = received[..<end.lowerBound].lowercased()
                let length = head.split(separator: "\r\n").first { $0.hasPrefix("content-length:") }
                    .flatMap {
                        Int($0.dropFirst("content-length:".count).trimmingCharacters(in: .whitespaces))
                    }
                if received[end.upperBound...].utf8.count >= length ?? 0 { return }
            }
            let count = unsafe buffer.withUnsafeMutableBytes {
                unsafe read(connection, $0.baseAddress, $0.count)
            }
            guard count > 0 else { return }
            received += String(decoding: buffer[..<count], as: UTF8.self)
        }
    }
}
