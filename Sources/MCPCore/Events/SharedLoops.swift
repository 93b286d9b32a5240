import Synchronization

/// The event loops of all clients of this process, and of the servers that share them
/// (`ServerOptions.sharesLoops`): the number of threads depends on the cores, not on the clients.
///
/// A loop occupies a thread of the system's pool, which has a few hundred. With one loop for each client, an
/// app that connects to many servers would occupy all threads, and everything else that uses Dispatch would
/// wait. Each of the first clients starts a loop, which stays; those after them share the loops in turn.
enum SharedLoops {
    /// The most loops of clients; a server may start more.
    private static let maxLoops = 4
    private static let all = Mutex<(loops: [EventLoop], turn: Int)>(([], 0))

    /// Returns the loop for another client.
    static func next() throws(IOError) -> EventLoop {
        try all.withLock { (all) throws(IOError) in
            if all.loops.count < min(maxLoops, EventLoopGroup.standardCount) {
                do throws(IOError) { return try start(&all.loops) } catch {
                    // Without a descriptor for one more, the clients share those that run.
                    guard !all.loops.isEmpty else { throw error }
                }
            }
            all.turn = (all.turn + 1) % all.loops.count
            return all.loops[all.turn]
        }
    }

    /// Returns the loops for a server: the same ones for each, those of clients first.
    static func first(_ count: Int) throws(IOError) -> [EventLoop] {
        try all.withLock { (all) throws(IOError) in
            while all.loops.count < count { _ = try start(&all.loops) }
            return Array(all.loops.prefix(count))
        }
    }

    private static func start(_ loops: inout [EventLoop]) throws(IOError) -> EventLoop {
        let loop = try EventLoop(label: "mcp.shared.\(loops.count)")
        loop.start()
        loops.append(loop)
        Census.keep(.eventLoop, 1)
        Census.keep(.descriptor, Poller.descriptors)
        return loop
    }
}
