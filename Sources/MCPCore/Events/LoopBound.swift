/// A wrapper for a value that belongs to one event loop; the wrapper may be passed between threads.
///
/// Only code on the loop may access the value, which release builds check, too.
@safe struct LoopBound<Value>: @unchecked Sendable {
    // SAFETY: read only on the loop's thread, as `value` checks.
    private let content: Value
    let loop: EventLoop

    init(_ value: Value, loop: EventLoop) {
        content = value
        self.loop = loop
    }

    var value: Value {
        @inline(__always) get {
            loop.checkIsOnLoop()
            return content
        }
    }
}
