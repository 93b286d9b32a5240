import TestSupport
import Testing

@testable import MCPCore

#if canImport(Darwin)
import Darwin
#elseif canImport(Musl)
import Musl
#else
import Glibc
#endif

@Suite struct StartupPagesTests {
    #if os(Linux)
    @Test("the program's own code is found, and nothing else")
    func codeRanges() {
        let maps = """
            55d0000-55d1000 r--p 00000000 08:01 1 /usr/bin/p
            55d1000-55d4000 r-xp 00001000 08:01 1 /usr/bin/p
            55d4000-55d5000 rw-p 00004000 08:01 1 /usr/bin/p
            7f00000-7f01000 r-xp 00000000 08:01 2 /lib/libc.so
            7ffd000-7ffe000 r-xp 00000000 00:00 0 [vdso]
            """
        #expect(StartupPages.codeRanges(maps) == [0x55d_1000 ..< 0x55d_4000])
        #expect(StartupPages.codeRanges("") == [])
        #expect(StartupPages.codeRanges("0-1 r-xp 0 0:0 0 [heap]") == [])
    }

    /// Kilobytes of this mapping that are resident, as the kernel tells.
    private static func resident(_ address: UInt) throws -> Int {
        let text = String(decoding: try Files.read("/proc/self/smaps", maxBytes: 16 << 20), as: UTF8.self)
        let lines = text.split(separator: "\n")
        let start = try #require(lines.firstIndex { $0.hasPrefix(String(address, radix: 16) + "-") })
        let line = try #require(lines[start...].first { $0.hasPrefix("Rss:") })
        return try #require(line.split(separator: " ").compactMap { Int($0) }.first)
    }

    // Of a file that only this test has mapped: others touch pages of the program all the time.
    @Test("pages go back to the page cache, and their contents come back")
    func release() throws {
        let directory = TemporaryDirectory()
        let path = directory.path + "/pages"
        let size = 64 << 12
        let file = try Syscalls.open(path, O_RDWR | O_CREAT, mode: 0o600)
        #expect(ftruncate(file.rawValue, size) == 0)
        let start = unsafe try #require(mmap(nil, size, PROT_READ, MAP_PRIVATE, file.rawValue, 0))
        defer { unsafe munmap(start, size) }
        func sum() -> Int {
            unsafe UnsafeRawBufferPointer(start: start, count: size).reduce(0) { $0 + Int($1) }
        }
        let address = UInt(bitPattern: start)
        #expect(sum() == 0)
        #expect(try Self.resident(address) > 0)
        StartupPages.release(address ..< address + UInt(size))
        #expect(try Self.resident(address) == 0)
        #expect(sum() == 0)
        // The program itself goes on.
        StartupPages.release()
    }
    #endif

    @Test("the limit of open files is raised as far as it goes")
    func openFiles() {
        let limit = OpenFileLimit.raise(to: 256)
        #expect(limit >= 256)
        #expect(OpenFileLimit.raise(to: 16) == limit)
    }
}
