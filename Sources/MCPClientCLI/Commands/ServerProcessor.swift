import MCPCore

#if canImport(Darwin)
import Darwin
#elseif canImport(Musl)
import Musl
#else
import Glibc
#endif

/// The processor time of the measured server, where this machine reports it.
///
/// The server is a program that we started, or the process that listens on a port of this machine and belongs
/// to the same user. Linux only.
struct ServerProcessor {
    private let pids: [Int32]

    init?(_ target: Target?) {
        switch target {
        case .program: pids = ChildPrograms.pids()
        case .http(let url): pids = Self.listener(url).map { [$0] } ?? []
        case .unix, .recording, nil: return nil
        }
        if pids.isEmpty || seconds == nil { return nil }
    }

    /// The seconds spent in user and system mode so far, by all threads.
    var seconds: Double? {
        let ticks = Double(max(1, sysconf(Int32(_SC_CLK_TCK))))
        var sum = 0.0
        for pid in pids {
            // The name of the program is in parentheses and may contain anything; the format after it is
            // fixed.
            guard let text = Self.text("/proc/\(pid)/stat"), let end = text.lastIndex(of: ")") else {
                return nil
            }
            let fields = text[text.index(after: end)...].split(separator: " ")
            guard fields.count > 13, let user = Double(fields[11]), let system = Double(fields[12]) else {
                return nil
            }
            sum += (user + system) / ticks
        }
        return sum
    }

    private static func text(_ path: String) -> String? {
        (try? SystemFile.read(path)).map { String(decoding: $0, as: UTF8.self) }
    }

    /// Returns the process that listens on the port of a loopback URL.
    private static func listener(_ url: String) -> Int32? {
        #if os(Linux)
        let isLocal = ["http://127.0.0.1:", "http://localhost:", "http://[::1]:"].first { url.hasPrefix($0) }
        guard let isLocal, let port = UInt16(url.dropFirst(isLocal.count).prefix { $0.isNumber }) else {
            return nil
        }
        let inodes = Set(["/proc/net/tcp", "/proc/net/tcp6"].flatMap { Self.inodes(of: port, in: $0) })
        guard !inodes.isEmpty else { return nil }
        // Without /proc no process can be found.
        guard let processes = try? Files.names(in: "/proc").names else { return nil }
        return processes.compactMap { Int32($0) }.first { pid in
            // Processes of other users cannot be inspected, and some processes end in the meantime.
            guard let descriptors = try? Files.names(in: "/proc/\(pid)/fd").names else { return false }
            return descriptors.contains { name in
                SymbolicLink.destination("/proc/\(pid)/fd/\(name)").map(inodes.contains) ?? false
            }
        }
        #else
        return nil
        #endif
    }

    /// Returns the sockets that listen on a port. proc_net(5): `sl local_address rem_address st … inode`; 0A
    /// is LISTEN.
    private static func inodes(of port: UInt16, in file: String) -> [String] {
        guard let text = text(file) else { return [] }
        return text.split(separator: "\n").dropFirst().compactMap { line in
            let fields = line.split(separator: " ")
            guard fields.count > 9, fields[3] == "0A", let colon = fields[1].lastIndex(of: ":"),
                UInt16(fields[1][fields[1].index(after: colon)...], radix: 16) == port
            else { return nil }
            return "socket:[\(fields[9])]"
        }
    }
}
