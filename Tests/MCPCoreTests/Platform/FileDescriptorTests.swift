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

@Suite struct FileDescriptorTests {
    @Test func closesWhenItsOwnerEnds() throws {
        let (reader, writer) = try makePipe()
        let kept = FileDescriptor(owning: reader)
        do { _ = FileDescriptor(owning: writer) }
        // The writing end is closed, so the reading end is at its end.
        #expect(try readOnce(kept.rawValue) == [])
    }

    @Test func releasedDescriptorStaysOpen() throws {
        let (reader, writer) = try makePipe()
        let raw = FileDescriptor(owning: writer).release()
        try writeText(raw, "x")
        closeDescriptor(raw)
        #expect(try readAll(reader) == "x")
        closeDescriptor(reader)
    }

    @Test func duplicatesAreCloseOnExecAndAboveTheStandardOnes() throws {
        let file = try openFile("/dev/null", O_RDONLY)
        let copy = try file.duplicate(atLeast: 50)
        #expect(copy.rawValue >= 50)
        #expect(fcntl(copy.rawValue, F_GETFD) & FD_CLOEXEC != 0)
        #expect(fcntl(file.rawValue, F_GETFD) & FD_CLOEXEC != 0)
    }

    @Test func errorsNameCallAndReason() {
        #expect { _ = try openFile("/no/such/file", O_RDONLY) } throws: { error in
            guard let error = error as? IOError else { return false }
            return error.errno == ENOENT
                && error.applied(to: "/x").description == "open /x: No such file or directory"
        }
    }
}
