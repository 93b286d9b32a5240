/// Whoever waits for a descriptor on an event loop: a connection, a listener, a child's pipe.
///
/// All methods are called on the loop's thread. A class and not a protocol, because a call through an
/// existential would retain and release at each event.
class EventHandler {
    /// Whether the loop will call `flush()` at the end of this turn.
    fileprivate(set) final var isFlushScheduled = false

    init() {}

    /// The descriptor is ready for `events`. Level-triggered: what is left over is reported again.
    func ready(_ events: Readiness) {}

    /// The end of a turn in which `EventLoop.scheduleFlush(_:)` was called: the place to write all answers at
    /// once.
    func flush() {}

    /// The loop has stopped and forgotten this handler, which should close what it holds.
    func loopStopped() {}
}

/// The handlers that asked to be flushed at the end of a turn, each once.
struct FlushList {
    private var waiting: [EventHandler] = []
    private var running: [EventHandler] = []

    var isEmpty: Bool { waiting.isEmpty }

    @inline(__always)
    mutating func add(_ handler: EventHandler) {
        if handler.isFlushScheduled { return }
        handler.isFlushScheduled = true
        waiting.append(handler)
    }

    /// Takes those who wait now; whoever asks again while being flushed comes in the next turn.
    mutating func take() -> [EventHandler] {
        swap(&waiting, &running)
        for handler in running { handler.isFlushScheduled = false }
        return running
    }

    /// Keeps the block that `take` handed out for the turn after the next.
    mutating func finish() { running.removeAll(keepingCapacity: true) }

    /// Forgets everybody.
    mutating func removeAll() {
        for handler in waiting { handler.isFlushScheduled = false }
        waiting.removeAll()
    }
}
