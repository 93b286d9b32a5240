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
    private static let saved = Mutex<termios?>(nil)
    private static let marksPastes = Mutex(false)

    /// Stops this process, and those that it has started, while another one has the terminal, as a terminal
    /// does when a program in the background reads; returns false if that cannot be.
    ///
    /// The threads that read block all signals, so that the terminal itself does not stop the process.
    static func waitForForeground(_ descriptor: Int32) -> Bool {
        for _ in 1 ... 20 {
            let group = tcgetpgrp(descriptor)
            // Negative: no terminal, or not that of this session.
            if group < 0 || group == getpgrp() { return true }
            kill(0, SIGTTIN)
            usleep(50_000)
        }
        return false
    }

    /// Switches to single keys; returns false if that is not possible.
    static func readKeys() -> Bool {
        var mode = termios()
        guard waitForForeground(0), unsafe tcgetattr(0, &mode) == 0 else { return false }
        let before = mode
        mode.c_lflag &= ~tcflag_t(ECHO | ICANON | ISIG | IEXTEN)
        mode.c_iflag &= ~tcflag_t(ICRNL | IXON | INLCR)
        guard unsafe tcsetattr(0, TCSADRAIN, &mode) == 0 else { return false }
        let isFirst = saved.withLock { saved in
            defer { saved = saved ?? before }
            return saved == nil
        }
        if isFirst { atexit { TerminalMode.restore() } }
        markPastes(true)
        return true
    }

    /// Restores the mode from before `readKeys`.
    static func restore() {
        guard var mode = saved.withLock({ $0 }) else { return }
        markPastes(false)
        _ = unsafe tcsetattr(0, TCSADRAIN, &mode)
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
