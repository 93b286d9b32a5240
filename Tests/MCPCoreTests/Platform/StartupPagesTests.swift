import Testing

@testable import MCPCore

@Suite struct StartupPagesTests {
    #if os(Linux)
    /// Kilobytes of mapped files that are resident, as the kernel tells.
    private static func residentFileKilobytes() throws -> Int {
        let status = String(decoding: try Files.read("/proc/self/status", maxBytes: 1 << 16), as: UTF8.self)
        let line = try #require(status.split(separator: "\n").first { $0.hasPrefix("RssFile:") })
        let words = line.split { $0 == " " || $0 == "\t" }
        return try #require(words.compactMap { Int($0) }.first)
    }

    @Test("pages of the program go back to the page cache, and the program goes on")
    func release() throws {
        let before = try Self.residentFileKilobytes()
        StartupPages.release()
        let after = try Self.residentFileKilobytes()
        #expect(after < before)
    }
    #endif

    @Test("the limit of open files is raised as far as it goes")
    func openFiles() {
        let limit = OpenFileLimit.raise(to: 256)
        #expect(limit >= 256)
        #expect(OpenFileLimit.raise(to: 16) == limit)
    }
}
