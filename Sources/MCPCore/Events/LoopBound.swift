/// A value that belongs to one event loop, in a wrapper that may be passed between threads.
///
/// Only code on the loop may look inside; debug builds check it.
@safe struct LoopBound<Value>: @unchecked Sendable {
    // SAFETY: read on the loop's thread only, which `value` asserts.
    private let content: Value
    let loop: EventLoop

    init(_ value: Value, loop: EventLoop) {
        content = value
        self.loop = loop
    }

    var value: Value {
        @inline(__always) get {
            loop.assertOnLoop()
            return content
        }
    }
}
