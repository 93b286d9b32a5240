package import Dispatch

#if canImport(Darwin)
import Darwin
#elseif canImport(Musl)
import Musl
#else
import Glibc
#endif

/// Signals as calls of a handler on a queue, where everything is allowed, unlike in a signal handler.
package final class SignalWatch: Sendable {
    private let counted = Counted(.signalWatch)
    private let sources: [WatchSource]
    private let signals: [Int32]

    /// Calls `handler` with the number of each of these signals, which lose their usual effect.
    ///
    /// The closures are made here and not at the caller's, because closures made in main.swift count as the
    /// main actor's and trap on another queue.
    package init(
        _ signals: [Int32], on queue: DispatchQueue = .global(), handler: @escaping @Sendable (Int32) -> Void
    ) {
        self.signals = signals
        #if canImport(Darwin)
        // kqueue sees signals that are ignored, and does not keep others from their usual effect.
        for number in signals { signal(number, SIG_IGN) }
        #endif
        // On Linux the source installs its own action. SIG_IGN before would lose what arrives until then, and
        // afterwards would replace that action; left alone, an early SIGTERM simply ends the process.
        sources = signals.map { number in WatchSource.signal(number, on: queue) { handler(number) } }
    }

    /// Ends the watch and gives the signals their usual effect back.
    package func cancel() {
        for source in sources { source.cancel() }
        for number in signals { signal(number, SIG_DFL) }
    }

    deinit { cancel() }

    /// Lets writes to a closed pipe fail with EPIPE instead of killing the process. Call it at start.
    ///
    /// A handler that the program has installed itself stays.
    package static func ignoreBrokenPipes() {
        var current = sigaction()
        let isDefault = unsafe sigaction(SIGPIPE, nil, &current) == 0 && hasDefaultAction(current)
        if isDefault { signal(SIGPIPE, SIG_IGN) }
    }

    private static func hasDefaultAction(_ action: sigaction) -> Bool {
        #if canImport(Darwin)
        unsafe action.__sigaction_u.__sa_handler == nil
        #elseif canImport(Musl)
        unsafe action.__sa_handler.sa_handler == nil
        #else
        unsafe action.__sigaction_handler.sa_handler == nil
        #endif
    }
}
