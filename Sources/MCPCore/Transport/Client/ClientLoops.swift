import Synchronization

/// The event loops of all clients of this process: threads for the cores, not for the clients.
///
/// A loop keeps a thread of the system's pool, which has a few hundred; with one for each client an app that
/// speaks with many servers would take them all, and everything else that uses Dispatch would wait. The loops
/// start with the first client and stay.
enum ClientLoops {
    private static let maxLoops = 4
    private static let group = Mutex<EventLoopGroup?>(nil)

    /// The loop for one more client.
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
