import Synchronization

#if canImport(Darwin)
import Darwin
#elseif canImport(Musl)
import Musl
#else
import Glibc
#endif

/// The mode of the terminal at descriptor 0, in which each key is read at once and nothing is echoed.
///
/// The mode before is restored by `restore`, and when the process ends.
enum TerminalMode {
    private static let saved = Mutex<termios?>(nil)

    /// Switches to single keys; returns false if that is not possible.
    static func readKeys() -> Bool {
        var mode = termios()
        guard unsafe tcgetattr(0, &mode) == 0 else { return false }
        let before = mode
        mode.c_lflag &= ~tcflag_t(ECHO | ICANON | ISIG | IEXTEN)
        mode.c_iflag &= ~tcflag_t(ICRNL | IXON | INLCR)
        guard unsafe tcsetattr(0, TCSADRAIN, &mode) == 0 else { return false }
        let isFirst = saved.withLock { saved in
            defer { saved = saved ?? before }
            return saved == nil
        }
        if isFirst { atexit { TerminalMode.restore() } }
        return true
    }

    /// Restores the mode from before `readKeys`.
    static func restore() {
        guard var mode = saved.withLock({ $0 }) else { return }
        _ = unsafe tcsetattr(0, TCSADRAIN, &mode)
    }
}
