import MCPCore
import TestSupport
import Testing

#if canImport(Darwin)
import Darwin
#elseif canImport(Musl)
import Musl
#else
import Glibc
#endif

@Suite struct FilesTests {
    // Fault row 88
    @Test func replaceLeavesTheOldOrTheNewContent() throws {
        let directory = TemporaryDirectory()
        let path = "\(directory.path)/state"
        try Files.replace(path, with: Array("one".utf8))
        try Files.replace(path, with: Array("two".utf8), mode: 0o644)
        #expect(text(try Files.read(path, maxBytes: 3)) == "two")
        #expect(try Files.info(path).permissions == 0o644)
        #expect(try RootDirectory(directory.path).list().entries.map(\.path) == ["state"])
        #expect(throws: IOError.self) { try Files.replace("\(directory.path)/no/dir", with: []) }
        #expect(try RootDirectory(directory.path).list().entries.count == 1)
    }

    @Test func readingIsLimitedToRegularFiles() throws {
        let directory = TemporaryDirectory()
        try directory.write("f", "12345")
        #expect(throws: IOError(errno: EFBIG, function: "read \(directory.path)/f")) {
            try Files.read("\(directory.path)/f", maxBytes: 4)
        }
        #expect(throws: IOError(errno: EISDIR, function: "read \(directory.path)")) {
            try Files.read(directory.path, maxBytes: 4)
        }
        #expect(throws: IOError(errno: EINVAL, function: "read /dev/zero")) {
            try Files.read("/dev/zero", maxBytes: 4)
        }
        try directory.write("empty", "")
        #expect(try Files.read("\(directory.path)/empty", maxBytes: 0) == [])
    }

    @Test func environmentIsReadable() {
        #expect(Environment.value("PATH") == Environment.all["PATH"])
        #expect(Environment.value("PATH") != nil)
        #expect(Environment.value("MCP_NO_SUCH_VARIABLE") == nil)
        #expect(Environment.entries.allSatisfy { $0.contains("=") })
    }
}
