import Dispatch
import MCPCore

#if canImport(Darwin)
import Darwin
#elseif canImport(Musl)
import Musl
#else
import Glibc
#endif

/// The service manager that started the process, as far as it wants to be notified (sd_notify(3),
/// sd_watchdog_enabled(3)): systemd, and others that set `NOTIFY_SOCKET`.
final class ServiceManager: Sendable {
    /// The address of the manager's socket; a leading `@` names an abstract one.
    private let path: String
    /// The time within which a sign of life is expected; nil for none.
    let watchdog: Duration?
    private let queue = DispatchQueue(label: "mcp.service")

    /// Returns nil if nobody wants to be notified.
    init?(_ environment: [String: String]) {
        guard let path = environment["NOTIFY_SOCKET"], path.hasPrefix("/") || path.hasPrefix("@"),
            (2 ... 107).contains(path.utf8.count)
        else { return nil }
        self.path = path
        let isForUs = environment["WATCHDOG_PID"].map { $0 == String(getpid()) } ?? true
        let microseconds = isForUs ? environment["WATCHDOG_USEC"].flatMap { Int64($0) } : nil
        // Half of less than a millisecond is no time for a timer.
        watchdog = microseconds.flatMap { $0 >= 1_000 ? .microseconds($0) : nil }
    }

    // MARK: Messages

    func ready(_ status: String) { send("READY=1\nSTATUS=\(Self.line(status))") }

    /// Announces a reload, with the time that systemd compares with that of its request.
    func reloading() {
        var time = timespec()
        _ = unsafe clock_gettime(CLOCK_MONOTONIC, &time)
        let microseconds = Int64(time.tv_sec) * 1_000_000 + Int64(time.tv_nsec) / 1_000
        send("RELOADING=1\nMONOTONIC_USEC=\(microseconds)")
    }

    func stopping() { send("STOPPING=1\nSTATUS=draining") }

    func status(_ text: String) { send("STATUS=\(Self.line(text))") }

    /// Begins to send signs of life: `ask` is called in time, and a sign is sent when it answers.
    func startWatchdog(_ ask: @escaping @Sendable (@escaping @Sendable () -> Void) -> Void) {
        guard let watchdog else { return }
        let (seconds, attoseconds) = watchdog.components
        let nanoseconds = Int(seconds) &* 500_000_000 &+ Int(attoseconds / 2_000_000_000)
        beat(every: .nanoseconds(nanoseconds), ask)
    }

    private func beat(
        every interval: DispatchTimeInterval,
        _ ask: @escaping @Sendable (@escaping @Sendable () -> Void) -> Void
    ) {
        ask { [weak self] in self?.send("WATCHDOG=1") }
        queue.asyncAfter(deadline: .now() + interval) { [weak self] in self?.beat(every: interval, ask) }
    }

    private static func line(_ text: String) -> String {
        String(String.UnicodeScalarView(text.unicodeScalars.map { $0.value < 0x20 ? " " : $0 }))
    }

    /// Sends a message. A manager that is gone, or does not read, is nobody to notify.
    private func send(_ text: String) {
        let number = socket(AF_UNIX, datagram, 0)
        guard number >= 0 else { return }
        defer { close(number) }
        // Without it, a command started at this moment has one more socket.
        _ = fcntl(number, F_SETFD, FD_CLOEXEC)
        var target = sockaddr_un()
        target.sun_family = sa_family_t(AF_UNIX)
        let name = Array(path.utf8)
        unsafe withUnsafeMutableBytes(of: &target.sun_path) { room in
            unsafe room.copyBytes(from: name.prefix(room.count))
            if name.first == UInt8(ascii: "@") { unsafe room[0] = 0 }
        }
        // The length of an abstract name counts.
        let offset = MemoryLayout<sockaddr_un>.offset(of: \.sun_path) ?? 2
        let isAbstract = name.first == UInt8(ascii: "@")
        let size = isAbstract ? offset + name.count : MemoryLayout<sockaddr_un>.size
        let bytes = Array(text.utf8)
        unsafe withUnsafePointer(to: &target) { pointer in
            unsafe pointer.withMemoryRebound(to: sockaddr.self, capacity: 1) { address in
                _ = unsafe bytes.withUnsafeBytes {
                    unsafe sendto(
                        number, $0.baseAddress, $0.count, sendFlags, address, socklen_t(size))
                }
            }
        }
    }
}

#if canImport(Darwin)
private let datagram = SOCK_DGRAM
private let sendFlags = MSG_DONTWAIT
#elseif canImport(Musl)
private let datagram = SOCK_DGRAM
private let sendFlags = Int32(MSG_NOSIGNAL) | Int32(MSG_DONTWAIT)
#else
private var datagram: Int32 { Int32(SOCK_DGRAM.rawValue) }
private var sendFlags: Int32 { Int32(MSG_NOSIGNAL) | Int32(MSG_DONTWAIT) }
#endif
