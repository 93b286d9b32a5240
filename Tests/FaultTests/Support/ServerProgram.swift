import MCPCore
import TestSupport

#if canImport(Darwin)
import Darwin
#elseif canImport(Musl)
import Musl
#else
import Glibc
#endif

/// The program under test.
enum ServerProgram {
    static let path = BuiltProgram.path("mcp-server")

    /// The program has no home: nothing can be made in it, by root neither.
    static func launch(_ arguments: [String], through words: [String] = []) -> ProcessLaunch {
        let all = words + [path] + arguments
        return ProcessLaunch(
            all[0], Array(all.dropFirst()), environment: ["PATH": "/usr/bin:/bin", "HOME": "/dev/null"])
    }

    /// Memory of a process in KiB: `VmRSS` is what it has now, `VmHWM` the most it ever had. Nil where there
    /// is no `/proc`.
    static func memory(of pid: Int32, _ field: String) -> Int? {
        guard let status = try? Files.read("/proc/\(pid)/status", maxBytes: 1 << 16) else { return nil }
        let lines = String(decoding: status, as: UTF8.self).split(separator: "\n")
        guard let line = lines.first(where: { $0.hasPrefix(field + ":") }) else { return nil }
        return Int(line.filter(\.isNumber))
    }

    /// What the descriptors of a process are, other than timers: libdispatch opens one for each clock when it
    /// is first needed, and keeps it. Nil where there is no `/proc`.
    static func descriptors(of pid: Int32) -> [String]? {
        let folder = "/proc/\(pid)/fd"
        guard let names = try? Files.names(in: folder).names else { return nil }
        return names.map { target(of: "\(folder)/\($0)") }.filter { $0 != "anon_inode:[timerfd]" }
    }

    private static func target(of link: String) -> String {
        var buffer = [UInt8](repeating: 0, count: 256)
        let count = unsafe buffer.withUnsafeMutableBytes { bytes -> Int in
            guard let base = bytes.baseAddress else { return 0 }
            return unsafe readlink(link, base.assumingMemoryBound(to: CChar.self), bytes.count)
        }
        return String(decoding: buffer.prefix(max(0, count)), as: UTF8.self)
    }
}
