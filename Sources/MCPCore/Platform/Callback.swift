import Synchronization

/// A closure that is set after the object that calls it exists, and that any thread may call or change.
///
/// A closure in a `Mutex` of its own is wrapped again by each look at it, because `withLock` is generic and
/// what it passes in and out is converted each time: after some 80,000 looks, the call ends the process for
/// want of stack. Generic code converts nothing.
package struct Callback<Body: Sendable>: ~Copyable, Sendable {
    private let body: Mutex<Body?>

    package init(_ body: Body? = nil) { self.body = Mutex(body) }

    /// The closure, or nil if there is none.
    package var current: Body? { body.withLock { $0 } }

    package func set(_ body: Body?) { self.body.withLock { $0 = body } }

    /// Returns the closure to the first caller only.
    package func take() -> Body? { body.withLock { $0.take() } }
}
