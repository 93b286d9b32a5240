import Synchronization

#if canImport(Darwin)
import Darwin
#elseif canImport(Musl)
import Musl
#else
import Glibc
#endif

/// The mode of the terminal at descriptor 0, in which each key is read at once, nothing is echoed, and what
/// is pasted is marked (`ESC [200~`, `ESC [201~`), which the terminal at descriptor 2 is told.
///
/// The mode before is restored by `restore`, and when the process ends.
enum TerminalMode {
    private struct State {
        /// The mode before; nil if it was never changed.
        var saved: termios?
        /// Whether keys are read.
        var isOn = false
    }

    private static let state = Mutex(State())
    private static let marksPastes = Mutex(false)
    /// How often this process went on after a stop, and when it last did.
    private static let continuation = Mutex((count: 0, last: ContinuousClock.Instant?.none))
    private static let ending = Atomic(false)

    /// Whether this process may use a terminal; true where there is no terminal, or that of another session.
    static func isForeground(_ descriptor: Int32) -> Bool {
        let group = tcgetpgrp(descriptor)
        return group < 0 || group == getpgrp()
    }

    /// Whether this process is about to end: nothing stops it any more.
    static var isEnding: Bool { ending.load(ordering: .relaxed) }

    /// Called once, when this process is about to end.
    static func end() { ending.store(true, ordering: .relaxed) }

    /// Called on each SIGCONT.
    static func goOn() { continuation.withLock { $0 = ($0.count + 1, .now) } }

    /// The time after a SIGCONT in which the process is not stopped again: those who end a process that is
    /// stopped, such as the shell's `kill` and timeout(1), send SIGCONT along with another signal.
    private static let respite = Duration.milliseconds(200)

    /// Stops this process, and those that it has started, while another one has the terminal, as a terminal
    /// does when a program in the background reads; returns false if that cannot be, or if nobody waits for
    /// the terminal any more.
    ///
    /// The threads that read block all signals, so that the terminal itself does not stop the process.
    static func waitForForeground(_ descriptor: Int32, unless isCancelled: () -> Bool) -> Bool {
        var hasStopped = false
        while !isForeground(descriptor) {
            if isEnding || isCancelled() { return false }
            let before = continuation.withLock { $0 }
            if let last = before.last, .now - last < respite {
                usleep(10_000)
                continue
            }
            kill(0, SIGTTIN)
            hasStopped = true
            // A process whose parent is gone is not stopped.
            var left = 100
            while continuation.withLock({ $0.count }) == before.count, !isForeground(descriptor) {
                if left == 0 { return false }
                left -= 1
                usleep(10_000)
            }
        }
        // What is still there is shown again before something new is.
        if hasStopped { usleep(50_000) }
        return true
    }

    /// Switches to single keys; returns false if that is not possible.
    static func readKeys() -> Bool {
        guard waitForForeground(0, unless: { Task.isCancelled }) else { return false }
        let isFirst: Bool? = state.withLock { state in
            guard let before = setKeys() else { return nil }
            defer { state = State(saved: state.saved ?? before, isOn: true) }
            return state.saved == nil
        }
        guard let isFirst else { return false }
        if isFirst { atexit { TerminalMode.restore() } }
        markPastes(true)
        return true
    }

    /// Switches to single keys again, if they are being read: while this process was stopped, another one
    /// has set its own mode.
    static func resume() {
        let isSet = state.withLock { $0.isOn && isForeground(0) && setKeys() != nil }
        guard isSet else { return }
        marksPastes.withLock { $0 = false }
        markPastes(true)
    }

    /// Sets the mode, and returns the one before; nil if that is not possible.
    private static func setKeys() -> termios? {
        var mode = termios()
        guard unsafe tcgetattr(0, &mode) == 0 else { return nil }
        let before = mode
        mode.c_lflag &= ~tcflag_t(ECHO | ICANON | ISIG | IEXTEN)
        mode.c_iflag &= ~tcflag_t(ICRNL | IXON | INLCR)
        return unsafe tcsetattr(0, TCSADRAIN, &mode) == 0 ? before : nil
    }

    /// Restores the mode from before `readKeys`. While another process has the terminal, it has its own.
    static func restore() {
        let saved = state.withLock { state in
            defer { state.isOn = false }
            return state.isOn ? state.saved : nil
        }
        guard var saved else { return }
        guard isForeground(0) else { return marksPastes.withLock { $0 = false } }
        markPastes(false)
        _ = unsafe tcsetattr(0, TCSADRAIN, &saved)
    }

    private static func markPastes(_ isOn: Bool) {
        guard isatty(2) == 1 else { return }
        let isChanged = marksPastes.withLock { marks in
            defer { marks = isOn }
            return marks != isOn
        }
        guard isChanged else { return }
        // The end of the process does not wait for a terminal that takes nothing.
        var request = pollfd(fd: 2, events: Int16(POLLOUT), revents: 0)
        guard unsafe poll(&request, 1, 100) > 0 else { return }
        _ = SystemFile.writeAll(2, Array("\u{1B}[?2004\(isOn ? "h" : "l")".utf8))
    }
}
