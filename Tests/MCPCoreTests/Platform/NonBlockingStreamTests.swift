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

@Suite struct NonBlockingStreamTests {
    private func read(_ stream: borrowing NonBlockingStream, _ count: Int = 100) throws(IOError) -> [UInt8]? {
        var buffer = [UInt8](repeating: 0, count: count)
        let fd = try unsafe buffer.withUnsafeMutableBufferPointer { buffer throws(IOError) -> Int? in
            unsafe try stream.readNonBlocking(into: UnsafeMutableRawBufferPointer(buffer))
        }
        return fd.map { Array(buffer.prefix($0)) }
    }

    private func write(_ stream: borrowing NonBlockingStream, _ bytes: [UInt8]) throws(IOError) -> Int? {
        try unsafe bytes.withUnsafeBufferPointer { buffer throws(IOError) -> Int? in
            unsafe try stream.writeNonBlocking(UnsafeRawBufferPointer(buffer))
        }
    }

    #if os(Linux)
    @Test func inheritedPipesKeepTheirFlags() throws {
        let (reader, writer) = try Syscalls.pipe()
        // What the parent still holds of the same descriptions.
        let parentReader = try FileDescriptor(owning: reader).duplicate()
        let parentWriter = try FileDescriptor(owning: writer).duplicate()
        let input = try NonBlockingStream(try parentReader.duplicate(), for: .read)
        let output = try NonBlockingStream(try parentWriter.duplicate(), for: .write)
        #expect(input.method == .reopened && output.method == .reopened)
        #expect(try Syscalls.statusFlags(parentReader.rawValue) & O_NONBLOCK == 0)
        #expect(try Syscalls.statusFlags(parentWriter.rawValue) & O_NONBLOCK == 0)
        #expect(try read(input) == nil)
        #expect(try write(output, Array("hello".utf8)) == 5)
        #expect(try read(input) == Array("hello".utf8))
        while try write(output, [UInt8](repeating: 1, count: 65_536)) != nil {}
        #expect(try read(input, 10)?.count == 10)
    }

    @Test func endOfAPipeIsSeenThroughTheReopenedDescription() throws {
        let (reader, writer) = try Syscalls.pipe()
        let input = try NonBlockingStream(FileDescriptor(owning: reader), for: .read)
        #expect(input.method == .reopened)
        try writeText(writer, "last")
        Syscalls.close(writer)
        #expect(try read(input) == Array("last".utf8))
        #expect(try read(input) == [])
    }
    #endif

    @Test func pipeWhoseWriterHasGoneIsReadToItsEnd() throws {
        let (reader, writer) = try Syscalls.pipe()
        try writeText(writer, "x")
        Syscalls.close(writer)
        let input = try NonBlockingStream(FileDescriptor(owning: reader), for: .read)
        #expect(try read(input) == [0x78])
        #expect(try read(input) == [])
    }

    @Test func socketsNeverWait() throws {
        let (a, b) = try Syscalls.socketPair()
        // Blocking descriptors, as they are inherited from inetd and the like.
        for fd in [a, b] { _ = fcntl(fd, F_SETFL, 0) }
        let first = try NonBlockingStream(FileDescriptor(owning: a), for: .read)
        let second = try NonBlockingStream(FileDescriptor(owning: b), for: .write)
        #expect(first.method == .socket)
        #expect(try read(first) == nil)
        var sent = 0
        while let count = try write(second, [UInt8](repeating: 2, count: 1 << 16)) { sent += count }
        #expect(sent > 0)
        #expect(try read(first) != nil)
    }

    @Test func filesAreReadFromWhereTheyAre() throws {
        let directory = TemporaryDirectory()
        try directory.write("f", "0123456789")
        let file = try Syscalls.open("\(directory.path)/f", O_RDONLY)
        #expect(try readOnce(file.rawValue, 3) == Array("012".utf8))
        let stream = try NonBlockingStream(file, for: .read)
        #expect(stream.method == .file)
        #expect(try read(stream) == Array("3456789".utf8))
        #expect(try read(stream) == [])
    }

    // Fault rows 80 and 81
    @Test func captureTakesTheProtocolAwayFromEverybodyElse() throws {
        let (inReader, inWriter) = try Syscalls.pipe()
        let (outReader, outWriter) = try Syscalls.pipe()
        let (errReader, errWriter) = try Syscalls.pipe()
        let streams = try StandardStreams.capture(input: inReader, output: outWriter, errors: errWriter)
        // A handler's print, and a child that reads stdin.
        try writeText(outWriter, "printed")
        #expect(try readOnce(errReader) == Array("printed".utf8))
        #expect(try readOnce(inReader) == [])
        try writeText(inWriter, "request")
        #expect(try read(streams.input) == Array("request".utf8))
        #expect(try write(streams.output, Array("answer".utf8)) == 6)
        #expect(try readOnce(outReader) == Array("answer".utf8))
        #expect(fcntl(streams.output.rawValue, F_GETFD) & FD_CLOEXEC != 0)
        for fd in [inReader, inWriter, outReader, outWriter, errReader, errWriter] { Syscalls.close(fd) }
    }

    // Fault row 80
    @Test func missingDescriptorsAreOpenedOnDevNull() throws {
        let free = try Syscalls.open("/dev/null", O_RDONLY).duplicate(atLeast: 900).release()
        Syscalls.close(free)
        try StandardStreams.openMissing([free])
        #expect(fcntl(free, F_GETFD) == 0)
        #expect(try readOnce(free) == [])
        Syscalls.close(free)
    }
}
