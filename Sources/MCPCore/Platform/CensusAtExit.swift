#if DEBUG
import Synchronization

#if canImport(Darwin)
import Darwin
#elseif canImport(Musl)
import Musl
#else
import Glibc
#endif

/// A check at the end of a process that everything was released.
///
/// With `MCP_CENSUS=strict` in the environment, a process that ends by `exit` waits at most 15 s for whatever
/// is still shutting down, then reports what is left and ends with status 86. One check thus covers all tests
/// of a process, many of which run at the same time. `MCP_CENSUS=tests` checks test processes but not the
/// programs that they start. Debug builds only.
enum CensusAtExit {
    private static let patience = 300
    private static let status: Int32 = 86
    private static let isStrict =
        switch Environment.value("MCP_CENSUS") {
        case "strict": true
        case "tests": CommandLine.arguments.first?.hasSuffix(".xctest") == true
        default: false
        }
    /// The sockets and pipes that were open before the first owner was counted.
    private static let before = openFiles()

    static func arm() {
        guard isStrict else { return }
        _ = before
        atexit { CensusAtExit.judge() }
    }

    private static func judge() {
        for _ in 0 ..< patience {
            if leftovers().isEmpty { return }
            usleep(50_000)
        }
        for line in leftovers() {
            let text = Array("census: \(line)\n".utf8)
            _ = unsafe text.withUnsafeBytes { unsafe write(2, $0.baseAddress, $0.count) }
        }
        _exit(status)
    }

    private static func leftovers() -> [String] {
        var lines: [String] = []
        let surplus = Census.surplus
        if !surplus.isEmpty { lines.append("still alive: \(Census.text(surplus))") }
        if hasChildren { lines.append("some children were not reaped") }
        // Sockets, pipes, and watches of processes and directories. The files that Dispatch opens for itself
        // are none of these.
        let open = openFiles().filter { !before.contains($0) }.map(Self.shown)
        if !open.isEmpty { lines.append("still open: \(open.joined(separator: " "))") }
        return lines
    }

    private static var hasChildren: Bool {
        var info = unsafe siginfo_t()
        return unsafe waitid(P_ALL, 0, &info, WEXITED | WNOWAIT | WNOHANG) == 0
    }

    /// An open file: its number, and what it refers to.
    private struct OpenFile: Hashable {
        let number: Int32
        let target: String
    }

    /// Returns text such as `12→socket:[4711] (127.0.0.1:80, listening)`, which helps to find the owner.
    ///
    /// The comparison ignores the address: an inherited socket may be bound by the process that it came from.
    private static func shown(_ file: OpenFile) -> String {
        let text = "\(file.number)→\(file.target)"
        guard file.target.hasPrefix("socket:"), let address = try? Syscalls.localAddress(file.number) else {
            return text
        }
        // For display only.
        let isListening = (try? Syscalls.option(file.number, SOL_SOCKET, SO_ACCEPTCONN)) == 1
        return text + " (\(address)\(isListening ? ", listening" : ""))"
    }

    private static func openFiles() -> [OpenFile] {
        #if os(Linux)
        let kept = Census.keptOpen.withLock { $0 }
        let numbers: [Int32]
        do {
            numbers = try Files.names(in: "/proc/self/fd").names.compactMap { Int32($0) }
        } catch {
            return [OpenFile(number: -1, target: "the list of open files cannot be read: \(error)")]
        }
        return numbers.sorted().compactMap { number in
            if kept.contains(number) { return nil }
            var buffer = [CChar](repeating: 0, count: 256)
            let count = unsafe readlink("/proc/self/fd/\(number)", &buffer, buffer.count - 1)
            guard count > 0 else { return nil }
            let target = String(decoding: buffer.prefix(count).map { UInt8(bitPattern: $0) }, as: UTF8.self)
            let kinds = ["socket:", "pipe:", "anon_inode:[pidfd]", "anon_inode:inotify", "/dev/null"]
            guard kinds.contains(where: { target.hasPrefix($0) }) else { return nil }
            return OpenFile(number: number, target: target)
        }
        #else
        return []
        #endif
    }
}
#endif
