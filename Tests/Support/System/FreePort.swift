import Synchronization

@testable import MCPCore

#if canImport(Darwin)
import Darwin
#elseif canImport(Musl)
import Musl
#else
import Glibc
#endif

private let used = Mutex(0)

/// A port of this machine that nobody uses, and that nobody is given before or after a test listens there.
///
/// Systems choose ports from 32768 on (49152 on Apple platforms) for outgoing connections and for listeners on
/// port 0, at any moment, also one that a test has just left. These ports are below, each is given once in a
/// process, and processes that run at the same time begin at different ones.
package func freePort() throws -> UInt16 {
    let (first, count) = (20_000, 10_000)
    for _ in 0 ..< count {
        let step = used.withLock { used in
            defer { used += 1 }
            return used
        }
        let port = UInt16(first + (Int(getpid()) * 40 + step) % count)
        guard let address = SocketAddress(numeric: "127.0.0.1", port: port) else { throw NothingThere() }
        let socket = try Syscalls.streamSocket(address.domain)
        // A process that is being started at this moment has this socket, too, for an instant; with the option,
        // it keeps nobody from the port who has the option as well.
        try Syscalls.setOption(socket.rawValue, SOL_SOCKET, SO_REUSEADDR, 1)
        if (try? Syscalls.bind(socket.rawValue, to: address)) != nil { return port }
    }
    throw NothingThere()
}
