import Synchronization

/// The event loops of all clients of this process: the number of threads depends on the cores,
/// not on the clients.
///
/// A loop occupies a thread of the system's pool, which has a few hundred. With one loop for each client, an
/// app that connects to many servers would occupy all threads, and everything else that uses Dispatch would
/// wait. The loops start with the first client and stay.
enum ClientLoops {
    private static let maxLoops = 4
    private static let group = Mutex<EventLoopGroup?>(nil)

    /// Returns the loop for another client.
    static func next() throws(IOError) -> EventLoop {
        try group.withLock { (group) throws(IOError) in
            if let group { return group.next() }
            let new = try EventLoopGroup(
                count: min(maxLoops, EventLoopGroup.availableCores), label: "mcp.client")
            group = new
            Census.keep(.eventLoop, new.loops.count)
            Census.keep(.descriptor, new.loops.count * Poller.descriptors)
            return new.next()
        }
    }
}
