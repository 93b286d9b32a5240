import Foundation
import Synchronization

/// A listening socket on 127.0.0.1 that gives every connection a thread of its own. Nothing on it blocks
/// longer than 20 seconds.
package final class BareListener: Sendable {
    /// The port that was free.
    package let port: UInt16
    private let descriptor: Int32
    private let open = Open()

    private final class Open: Sendable {
        let descriptors = Mutex<Set<Int32>>([])
    }

    /// - Parameter serve: speaks on a connection, which is closed behind it.
    package init(_ serve: @escaping @Sendable (Int32) -> Void) throws {
        #if canImport(Darwin)
        let descriptor = socket(AF_INET, SOCK_STREAM, 0)
        #else
        let descriptor = socket(AF_INET, Int32(SOCK_STREAM.rawValue), 0)
        #endif
        self.descriptor = descriptor
        port = try Self.listen(descriptor)
        let open = self.open
        Thread.detachNewThread {
            while true {
                let connection = accept(descriptor, nil, nil)
                guard connection >= 0 else { break }
                Self.prepare(connection)
                open.descriptors.withLock { _ = $0.insert(connection) }
                Thread.detachNewThread {
                    serve(connection)
                    open.descriptors.withLock { _ = $0.remove(connection) }
                    close(connection)
                }
            }
            close(descriptor)
        }
    }

    /// A connection to this machine; nil when nobody listens.
    package static func connect(_ port: UInt16) -> Int32? {
        #if canImport(Darwin)
        let descriptor = socket(AF_INET, SOCK_STREAM, 0)
        #else
        let descriptor = socket(AF_INET, Int32(SOCK_STREAM.rawValue), 0)
        #endif
        var address = address(port)
        let size = socklen_t(MemoryLayout<sockaddr_in>.size)
        let result = unsafe withUnsafePointer(to: &address) { pointer in
            unsafe pointer.withMemoryRebound(to: sockaddr.self, capacity: 1) {
                unsafe Foundation.connect(descriptor, $0, size)
            }
        }
        prepare(descriptor)
        if result == 0 { return descriptor }
        close(descriptor)
        return nil
    }

    /// Ends all connections.
    package func stop() {
        _ = shutdown(descriptor, Int32(SHUT_RDWR))
        open.descriptors.withLock { for descriptor in $0 { _ = shutdown(descriptor, Int32(SHUT_RDWR)) } }
    }

    /// Makes the close of a connection a reset.
    package static func reset(_ descriptor: Int32) {
        var linger = linger(l_onoff: 1, l_linger: 0)
        _ = unsafe setsockopt(
            descriptor, SOL_SOCKET, SO_LINGER, &linger, socklen_t(MemoryLayout<linger>.size))
    }

    private static func address(_ port: UInt16) -> sockaddr_in {
        var address = sockaddr_in()
        address.sin_family = sa_family_t(AF_INET)
        address.sin_port = port.bigEndian
        address.sin_addr.s_addr = UInt32(0x7F00_0001).bigEndian
        return address
    }

    private static func prepare(_ descriptor: Int32) {
        var limit = timeval(tv_sec: 20, tv_usec: 0)
        for option in [SO_RCVTIMEO, SO_SNDTIMEO] {
            _ = unsafe setsockopt(
                descriptor, SOL_SOCKET, option, &limit, socklen_t(MemoryLayout<timeval>.size))
        }
        var isOn: Int32 = 1
        _ = unsafe setsockopt(
            descriptor, Int32(IPPROTO_TCP), TCP_NODELAY, &isOn, socklen_t(MemoryLayout<Int32>.size))
    }

    private static func listen(_ descriptor: Int32) throws -> UInt16 {
        var address = address(0)
        var size = socklen_t(MemoryLayout<sockaddr_in>.size)
        let isBound = unsafe withUnsafeMutablePointer(to: &address) { pointer in
            unsafe pointer.withMemoryRebound(to: sockaddr.self, capacity: 1) { pointer in
                unsafe bind(descriptor, pointer, size) == 0 && Foundation.listen(descriptor, 64) == 0
                    && getsockname(descriptor, pointer, &size) == 0
            }
        }
        guard isBound else { throw POSIXError(.EADDRINUSE) }
        return UInt16(bigEndian: address.sin_port)
    }
}
