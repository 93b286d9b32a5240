import Dispatch

/// A dispatch source that can be cancelled from any thread.
///
/// Dispatch handles rare events: the end of processes, a few timers. Connections are watched by event loops.
final class WatchSource: @unchecked Sendable {
    private let counted: Counted?

    // SAFETY: dispatch sources are thread-safe; their Swift protocols just do not declare it.
    private let source: any DispatchSourceProtocol

    private init(_ source: any DispatchSourceProtocol, isCounted: Bool = true) {
        self.source = source
        counted = isCounted ? Counted(.watchSource) : nil
    }

    /// Calls `handler` once when the descriptor is readable, and closes it afterwards or when cancelled.
    static func once(
        readable descriptor: consuming FileDescriptor, on queue: DispatchQueue,
        _ handler: @escaping @Sendable () -> Void
    ) -> WatchSource {
        let fd = descriptor.release()
        let source = DispatchSource.makeReadSource(fileDescriptor: fd, queue: queue)
        let watch = WatchSource(source)
        source.setCancelHandler { @Sendable in Syscalls.close(fd) }
        source.setEventHandler { @Sendable in
            watch.cancel()
            handler()
        }
        source.resume()
        return watch
    }

    /// Calls `handler` whenever the descriptor is readable, and closes it when cancelled.
    static func readable(
        _ descriptor: consuming FileDescriptor, on queue: DispatchQueue,
        _ handler: @escaping @Sendable () -> Void
    ) -> WatchSource {
        let fd = descriptor.release()
        let source = DispatchSource.makeReadSource(fileDescriptor: fd, queue: queue)
        source.setCancelHandler { @Sendable in Syscalls.close(fd) }
        source.setEventHandler { @Sendable in handler() }
        source.resume()
        return WatchSource(source)
    }

    /// Calls `handler` every `seconds` until it returns false.
    static func every(
        seconds: Int, on queue: DispatchQueue, _ handler: @escaping @Sendable () -> Bool
    ) -> WatchSource {
        let source = DispatchSource.makeTimerSource(queue: queue)
        let watch = WatchSource(source)
        source.schedule(deadline: .now() + .seconds(seconds), repeating: .seconds(seconds))
        source.setEventHandler { @Sendable in if !handler() { watch.cancel() } }
        source.resume()
        return watch
    }

    /// Calls `handler` once, after this time. Not counted: it belongs to a task that waits.
    static func after(_ duration: Duration, _ handler: @escaping @Sendable () -> Void) -> WatchSource {
        let source = DispatchSource.makeTimerSource(queue: .global())
        source.schedule(deadline: .now() + duration.dispatchInterval)
        source.setEventHandler { @Sendable in handler() }
        source.resume()
        return WatchSource(source, isCounted: false)
    }

    #if canImport(Darwin)
    /// Calls `handler` when a process ends.
    static func exit(
        of process: Int32, on queue: DispatchQueue, _ handler: @escaping @Sendable () -> Void
    ) -> WatchSource {
        let source = DispatchSource.makeProcessSource(identifier: process, eventMask: .exit, queue: queue)
        let watch = WatchSource(source)
        source.setEventHandler { @Sendable in
            watch.cancel()
            handler()
        }
        source.resume()
        return watch
    }
    #endif

    /// Leaves what becomes readable unread for a while, and then calls `body`, which reads it; has no effect
    /// on the end of the source.
    ///
    /// On Linux, the source does not always report what became readable while it was suspended.
    func pause(
        _ time: DispatchTimeInterval, on queue: DispatchQueue, then body: @escaping @Sendable () -> Void
    ) {
        source.suspend()
        // Holds the source: one that is suspended must not be released.
        queue.asyncAfter(deadline: .now() + time) {
            self.source.resume()
            body()
        }
    }

    func cancel() { source.cancel() }
}
