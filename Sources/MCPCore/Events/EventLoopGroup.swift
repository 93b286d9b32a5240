import Synchronization

#if canImport(Darwin)
import Darwin
#elseif canImport(Musl)
import Musl
#else
import Glibc
#endif

/// A group of event loops that start and stop together.
final class EventLoopGroup: Sendable {
    let loops: [EventLoop]
    private let turn = Atomic<Int>(0)

    /// Creates `count` loops, by default one for each available core, and starts them.
    ///
    /// - Parameter isRunning: false if descriptors are to be registered before the loops start.
    init(
        count: Int = EventLoopGroup.availableCores, label: String = "mcp.loop",
        clock: any TimeSource = SystemClock(), isRunning: Bool = true
    ) throws(IOError) {
        precondition(count > 0, "a group needs at least one loop")
        var loops: [EventLoop] = []
        for index in 0 ..< count { loops.append(try EventLoop(label: "\(label).\(index)", clock: clock)) }
        self.loops = loops
        if isRunning { start() }
    }

    /// Starts the loops of a group that is not running yet.
    func start() { for loop in loops { loop.start() } }

    /// Returns the loops in turn, for connections that one listener distributes.
    func next() -> EventLoop {
        let ticket = turn.wrappingAdd(1, ordering: .relaxed).oldValue
        return loops[Int(UInt(bitPattern: ticket) % UInt(loops.count))]
    }

    /// Makes all loops end. Callable from any thread.
    func stop() { for loop in loops { loop.stop() } }

    /// Waits for the end of all loops. Never call it on one of them.
    func waitUntilStopped() { for loop in loops { loop.waitUntilStopped() } }

    static var availableCores: Int { max(1, sysconf(Int32(_SC_NPROCESSORS_ONLN))) }
}
