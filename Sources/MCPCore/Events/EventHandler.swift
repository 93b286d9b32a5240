/// An object that waits for a descriptor on an event loop: a connection, a listener or a child's pipe.
///
/// All methods are called on the loop's thread. This is a class and not a protocol because a call through an
/// existential would retain and release on each event.
class EventHandler {
    /// Whether the loop will call `flush()` at the end of this turn.
    fileprivate(set) final var isFlushScheduled = false

    init() {}

    /// Handles readiness of the descriptor for `events`. Level-triggered: whatever is left unread is reported
    /// again.
    func ready(_ events: Readiness) {}

    /// Writes all responses of a turn at once; called at the end of a turn in which
    /// `EventLoop.scheduleFlush(_:)` was called.
    func flush() {}

    /// Closes what this handler holds; called when the loop has stopped and removed the handler.
    func loopStopped() {}
}

/// The handlers that requested a flush at the end of a turn, each listed once.
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

    /// Takes the waiting handlers; one that requests another flush while being flushed is served in the next
    /// turn.
    mutating func take() -> [EventHandler] {
        swap(&waiting, &running)
        for handler in running { handler.isFlushScheduled = false }
        return running
    }

    /// Keeps the array that `take` returned for reuse in the turn after the next.
    mutating func finish() { running.removeAll(keepingCapacity: true) }

    /// Removes all handlers.
    mutating func removeAll() {
        for handler in waiting { handler.isFlushScheduled = false }
        waiting.removeAll()
    }
}
