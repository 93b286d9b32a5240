import CMCPSystem
import Synchronization

#if canImport(Darwin)
import Darwin
#elseif canImport(Musl)
import Musl
#else
import Glibc
#endif

/// A watch that delivers signals as calls of a handler on a thread, where everything is allowed, unlike in a
/// signal handler.
package final class SignalWatch: Sendable {
    private let counted = Counted(.signalWatch)
    private let registrations: [SignalReceiver.Registration]

    /// Calls `handler` with the number of each of these signals as it arrives; the signals lose their usual
    /// effect.
    ///
    /// The calls are made one after another on a dedicated thread, so a busy queue cannot delay them; a
    /// handler that waits delays all other signals.
    ///
    /// - Throws: `IOError` when no descriptor or thread is available for receiving signals; the signals then
    ///   keep their usual effect.
    package init(
        _ signals: [Int32], handler: @escaping @Sendable (Int32) -> Void
    ) throws(IOError) {
        registrations = try SignalReceiver.add(signals, handler)
    }

    /// Ends the watch. A signal that no other watch observes regains its usual effect.
    package func cancel() { SignalReceiver.remove(registrations) }

    deinit { cancel() }

    /// Makes writes to a closed pipe fail with EPIPE instead of killing the process. Call it at startup.
    ///
    /// A handler that the program has installed itself is kept.
    package static func ignoreBrokenPipes() {
        if hasDefaultAction(SIGPIPE) { signal(SIGPIPE, SIG_IGN) }
    }

    /// Returns whether a signal has its usual effect: it has no handler and is not ignored, as SIGHUP is
    /// under nohup(1).
    package static func hasDefaultAction(_ number: Int32) -> Bool {
        var current = sigaction()
        return unsafe sigaction(number, nil, &current) == 0 && hasDefaultAction(current)
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

/// The part that all watches of a process share: the signal actions, the pipe that they write to, and the
/// thread that reads it.
///
/// This replaces Dispatch's signalfd, which is created together with its source. A source cannot report that
/// creating it failed, so a server without descriptors to spare would run and never receive SIGTERM.
enum SignalReceiver {
    struct Registration: Sendable, Hashable {
        fileprivate let signal: Int32
        fileprivate let number: Int
    }

    private struct State {
        var isRunning = false
        var count = 0
        var handlers: [Int32: [Int: @Sendable (Int32) -> Void]] = [:]
    }

    private static let state = Mutex(State())

    fileprivate static func add(
        _ signals: [Int32], _ handler: @escaping @Sendable (Int32) -> Void
    ) throws(IOError) -> [Registration] {
        try state.withLock { (state) throws(IOError) in
            if !state.isRunning {
                try start()
                state.isRunning = true
            }
            return signals.map { number in
                state.count += 1
                state.handlers[number, default: [:]][state.count] = handler
                // Calls that the signal interrupts are restarted (SA_RESTART).
                _ = signal(number, passOn)
                return Registration(signal: number, number: state.count)
            }
        }
    }

    fileprivate static func remove(_ registrations: [Registration]) {
        state.withLock { state in
            for registration in registrations {
                let removed = state.handlers[registration.signal]?.removeValue(forKey: registration.number)
                guard removed != nil, state.handlers[registration.signal]?.isEmpty == true else { continue }
                state.handlers[registration.signal] = nil
                signal(registration.signal, SIG_DFL)
            }
        }
    }

    /// Creates the pipe and the thread, once per process.
    private static func start() throws(IOError) {
        let (reader, writer) = try Syscalls.pipe()
        let input = FileDescriptor(owning: reader)
        let output = FileDescriptor(owning: writer)
        // A handler must not wait: a full pipe holds 65,536 signals that have not been read.
        try Syscalls.setNonBlocking(output.rawValue)
        signalPipe.store(output.rawValue, ordering: .releasing)
        signalReader.store(input.rawValue, ordering: .releasing)
        try startThread()
        Census.keep(open: input.release())
        Census.keep(open: output.release())
    }

    private static func startThread() throws(IOError) {
        #if canImport(Darwin) || canImport(Musl)
        var thread: pthread_t?
        let status = unsafe pthread_create(&thread, nil, { _ in unsafe SignalReceiver.receive() }, nil)
        if let thread = unsafe thread { unsafe pthread_detach(thread) }
        #else
        var thread = pthread_t()
        let status = unsafe pthread_create(&thread, nil, { _ in unsafe SignalReceiver.receive() }, nil)
        if status == 0 { pthread_detach(thread) }
        #endif
        if status != 0 { throw IOError(errno: status, function: "pthread_create") }
    }

    private static func receive() -> UnsafeMutableRawPointer? {
        // Dispatch's threads block signals, and this thread may have been created by one of them.
        var none = sigset_t()
        unsafe sigemptyset(&none)
        unsafe pthread_sigmask(SIG_SETMASK, &none, nil)
        let fd = signalReader.load(ordering: .acquiring)
        var byte: UInt8 = 0
        while true {
            let count = unsafe read(fd, &byte, 1)
            if count < 0, errno == EINTR { continue }
            // Other code has closed a descriptor that it does not own.
            if count != 1 { return nil }
            let number = Int32(byte)
            let handlers = state.withLock { Array(($0.handlers[number] ?? [:]).values) }
            for handler in handlers { handler(number) }
        }
    }
}

/// The ends of the pipe. They are outside the type, and used before an action is installed, so that the
/// signal handler below runs no initializer.
private let signalPipe = Atomic<Int32>(-1)
private let signalReader = Atomic<Int32>(-1)

/// Forwards a signal into the pipe. This is the signal handler itself, so it does only what POSIX allows
/// there.
private func passOn(_ number: Int32) {
    let saved = errno
    var byte = UInt8(truncatingIfNeeded: number)
    // A full pipe holds 65,536 signals that have not been read.
    _ = unsafe write(signalPipe.load(ordering: .acquiring), &byte, 1)
    errno = saved
}
