import Synchronization

#if canImport(Darwin)
import Darwin
#elseif canImport(Musl)
import Musl
#else
import Glibc
#endif

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
        let (descriptor, port) = try BlockingSocket.listen()
        (self.descriptor, self.port) = (descriptor, port)
        let open = self.open
        TestThread.run {
            while let connection = BlockingSocket.accept(descriptor, waitingAtMost: 20) {
                open.descriptors.withLock { _ = $0.insert(connection) }
                TestThread.run {
                    serve(connection)
                    open.descriptors.withLock { _ = $0.remove(connection) }
                    BlockingSocket.close(connection)
                }
            }
            BlockingSocket.close(descriptor)
        }
    }

    /// A connection to this machine; nil when nobody listens.
    package static func connect(_ port: UInt16) -> Int32? {
        BlockingSocket.connect(port, waitingAtMost: 20)
    }

    /// Ends all connections.
    package func stop() {
        BlockingSocket.shutDown(descriptor)
        open.descriptors.withLock { $0.forEach(BlockingSocket.shutDown) }
    }

    /// Makes the close of a connection a reset.
    package static func reset(_ descriptor: Int32) {
        var linger = linger(l_onoff: 1, l_linger: 0)
        _ = unsafe setsockopt(
            descriptor, SOL_SOCKET, SO_LINGER, &linger, socklen_t(MemoryLayout<linger>.size))
    }
}
