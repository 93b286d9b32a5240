package import Dispatch
import Synchronization

#if os(Linux)
import CMCPSystem
#endif
#if canImport(Darwin)
import Darwin
#elseif canImport(Musl)
import Musl
#else
import Glibc
#endif

/// A watch that reports the death of the process that started this one.
///
/// PR_SET_PDEATHSIG is not suitable: it fires when the parent's *thread* that happened to start us ends.
package final class ParentWatch: Sendable {
    private let source: WatchSource?

    /// Calls `handler` once on `queue` when the parent is gone, or immediately if it is gone already.
    ///
    /// A parent outside this pid namespace cannot be watched; in that case the handler is never called.
    package convenience init(on queue: DispatchQueue = .global(), handler: @escaping @Sendable () -> Void) {
        self.init(parent: getppid(), isParent: { getppid() == $0 }, queue: queue, handler: handler)
    }

    init(
        parent: Int32, isParent: @escaping @Sendable (Int32) -> Bool, queue: DispatchQueue,
        handler: @escaping @Sendable () -> Void
    ) {
        guard parent > 0 else {
            source = nil
            return
        }
        let once = Once(handler)
        let watch: WatchSource
        #if os(Linux)
        let pidfd = mcp_pidfd_open(parent)
        if pidfd >= 0 {
            watch = .once(readable: FileDescriptor(owning: pidfd), on: queue) { once.call() }
        } else {
            // A kernel before 5.3: check once a second who the parent is.
            watch = .every(seconds: 1, on: queue) {
                if isParent(parent) { return true }
                once.call()
                return false
            }
        }
        #else
        watch = .exit(of: parent, on: queue) { once.call() }
        #endif
        source = watch
        // The parent may have died before the watch began, and its number may belong to another process by
        // now.
        if !isParent(parent) {
            watch.cancel()
            queue.async { once.call() }
        }
    }

    package func cancel() { source?.cancel() }

    deinit { cancel() }
}

/// An action that can be requested by two callers and runs once.
///
/// A parent that dies between the start of the watch and the check after it is noticed by both.
final class Once: Sendable {
    private let isCalled = Atomic<Bool>(false)
    private let handler: @Sendable () -> Void

    init(_ handler: @escaping @Sendable () -> Void) { self.handler = handler }

    func call() {
        if !isCalled.exchange(true, ordering: .acquiringAndReleasing) { handler() }
    }
}
