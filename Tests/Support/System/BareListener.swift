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

/// A listening socket on 127.0.0.1, or a unix socket, that gives every connection a thread of its own.
///
/// Descriptors are shut down and closed under one lock: the number of one that is closed may belong to
/// another test already.
package final class BareListener: Sendable {
    private struct State {
        /// nil once it is closed.
        var listener: Int32?
        var isStopped = false
        var accepted = 0
        var open: [Int: Int32] = [:]
    }

    /// Shared with the threads, which may outlive the listener.
    private final class Sockets: Sendable {
        let state: Mutex<State>
        let ended = DispatchSemaphore(value: 0)

        init(_ listener: Int32) { state = Mutex(State(listener: listener)) }

        func took(_ connection: Int32) -> Int {
            state.withLock { state in
                state.accepted += 1
                state.open[state.accepted] = connection
                if state.isStopped { BlockingSocket.shutDown(connection) }
                return state.accepted
            }
        }

        func close(_ number: Int) {
            state.withLock { state in
                if let connection = state.open.removeValue(forKey: number) {
                    BlockingSocket.close(connection)
                }
            }
        }

        func closeListener() {
            state.withLock { state in
                if let listener = state.listener { BlockingSocket.close(listener) }
                state.listener = nil
            }
            ended.signal()
        }
    }

    /// The port that was free; 0 for a unix socket.
    package let port: UInt16
    private let sockets: Sockets

    /// - Parameters:
    ///   - unixPath: where to listen instead.
    ///   - seconds: the longest wait on a connection; nil for none.
    ///   - serve: speaks on a connection, which has a number from 1 and is closed behind it.
    package init(
        unixPath: String? = nil, waitingAtMost seconds: Int? = 20,
        _ serve: @escaping @Sendable (_ connection: Int32, _ number: Int) -> Void
    ) throws {
        let (descriptor, port) = try BlockingSocket.listen(unixPath: unixPath)
        self.port = port
        let sockets = Sockets(descriptor)
        self.sockets = sockets
        TestThread.run {
            while let connection = BlockingSocket.accept(descriptor, waitingAtMost: seconds) {
                let number = sockets.took(connection)
                TestThread.run {
                    serve(connection, number)
                    sockets.close(number)
                }
            }
            sockets.closeListener()
        }
    }

    /// - Parameter serve: speaks on a connection, which is closed behind it.
    package convenience init(_ serve: @escaping @Sendable (Int32) -> Void) throws {
        try self.init { connection, _ in serve(connection) }
    }

    /// A connection to this machine; nil when nobody listens.
    package static func connect(_ port: UInt16) -> Int32? {
        BlockingSocket.connect(port, waitingAtMost: 20)
    }

    /// How many connections came.
    package var accepted: Int { sockets.state.withLock { $0.accepted } }

    /// Ends all connections and takes no more.
    package func stop() {
        sockets.state.withLock { state in
            state.isStopped = true
            if let listener = state.listener { BlockingSocket.shutDown(listener) }
            state.open.values.forEach(BlockingSocket.shutDown)
        }
    }

    /// Stops, and returns when the port is free again.
    package func stopAndWait() {
        stop()
        _ = sockets.ended.wait(timeout: .now() + .seconds(20))
        // For whoever waits next.
        sockets.ended.signal()
    }

    /// Does something with a connection unless it is closed.
    package func withConnection(_ number: Int, _ body: (Int32) -> Void) {
        sockets.state.withLock { state in if let connection = state.open[number] { body(connection) } }
    }

    /// Makes the close of a connection a reset.
    package static func reset(_ descriptor: Int32) {
        var linger = linger(l_onoff: 1, l_linger: 0)
        _ = unsafe setsockopt(
            descriptor, SOL_SOCKET, SO_LINGER, &linger, socklen_t(MemoryLayout<linger>.size))
    }
}
