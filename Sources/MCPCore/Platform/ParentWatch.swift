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

/// Tells when the process that started this one has died.
///
/// PR_SET_PDEATHSIG is no way to do that: it fires when the parent's *thread* ends that happened to start us.
package final class ParentWatch: Sendable {
    private let source: WatchSource?

    /// Calls `handler` once on `queue` when the parent is gone, at once if it is gone already.
    ///
    /// A parent outside of this pid namespace cannot be watched; then nothing is ever called.
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
            // A kernel before 5.3: look once a second who the parent is.
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
        // It may have died before the watch began, and its number may belong to somebody else by now.
        if !isParent(parent) {
            watch.cancel()
            queue.async { once.call() }
        }
    }

    package func cancel() { source?.cancel() }

    deinit { cancel() }
}

/// Something that two may ask for and that happens once: the death of a parent is seen both by the watch and
/// by the look afterwards when it falls between them.
final class Once: Sendable {
    private let isCalled = Atomic<Bool>(false)
    private let handler: @Sendable () -> Void

    init(_ handler: @escaping @Sendable () -> Void) { self.handler = handler }

    func call() {
        if !isCalled.exchange(true, ordering: .acquiringAndReleasing) { handler() }
    }
}
