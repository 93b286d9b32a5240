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
    /// Whether the loops belong to the process, and go on when the group ends.
    private let areShared: Bool
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
        areShared = false
        if isRunning { start() }
    }

    /// Creates a group of loops that clients of this process use as well. They run already.
    init(sharing count: Int) throws(IOError) {
        precondition(count > 0, "a group needs at least one loop")
        loops = try SharedLoops.first(count)
        areShared = true
    }

    /// Starts the loops of a group that is not running yet.
    func start() {
        if areShared { return }
        for loop in loops { loop.start() }
    }

    /// Returns the loops in turn, for connections that one listener distributes.
    func next() -> EventLoop {
        let ticket = turn.wrappingAdd(1, ordering: .relaxed).oldValue
        return loops[Int(UInt(bitPattern: ticket) % UInt(loops.count))]
    }

    /// Makes all loops end, unless they are shared. Callable from any thread.
    func stop() {
        if areShared { return }
        for loop in loops { loop.stop() }
    }

    /// Waits for the end of all loops, or, if they are shared, until they have done what was sent to them.
    /// Never call it on one of them.
    func waitUntilStopped() {
        for loop in loops {
            if areShared { loop.perform {} } else { loop.waitUntilStopped() }
        }
    }

    /// The number of loops of a server, and of all clients: one for every two cores, which leaves the other
    /// cores to handlers and the rest of the machine.
    static var standardCount: Int { max(1, availableCores / 2) }

    static var availableCores: Int { max(1, sysconf(Int32(_SC_NPROCESSORS_ONLN))) }
}
