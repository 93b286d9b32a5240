#if os(Linux)
import CMCPSystem
#endif
#if canImport(Darwin)
package import Darwin
#elseif canImport(Musl)
package import Musl
#else
package import Glibc
#endif

/// The system calls that the core uses. Each one goes through `perform`, so EINTR, EAGAIN and injected faults
/// are handled in one place.
package enum Syscalls {
    /// Repeats `call` as long as signals interrupt it. Nil: the call would block.
    ///
    /// - Parameter tries: the maximum number of attempts; after that, the interruption is the error.
    @inline(__always)
    static func perform(
        _ function: StaticString, on fd: Int32 = -1, atMost tries: Int = .max, _ call: () -> Int
    ) throws(IOError) -> Int? {
        for _ in 0 ..< tries {
            #if DEBUG
            if let injected = FaultInjection.errno(for: function, fd) {
                if injected == EINTR { continue }
                if injected == EAGAIN { return nil }
                throw IOError(errno: injected, function: "\(function)")
            }
            #endif
            let result = call()
            if result >= 0 { return result }
            let error = currentErrno()
            if error == EINTR { continue }
            if error == EAGAIN || error == EWOULDBLOCK { return nil }
            throw IOError(errno: error, function: "\(function)")
        }
        throw IOError(errno: EINTR, function: "\(function)")
    }

    /// Variant of `perform` for calls that do not wait, or for which having to wait is an error.
    @inline(__always)
    @discardableResult
    static func require(_ function: StaticString, on fd: Int32 = -1, _ call: () -> Int) throws(IOError) -> Int
    {
        guard let result = try perform(function, on: fd, call) else {
            throw IOError(errno: EAGAIN, function: "\(function)")
        }
        return result
    }

    /// Variant of `perform` for calls that wait for events; returns the number of events.
    ///
    /// Returns 0 for EINTR and EAGAIN, because the caller has to compute its remaining time.
    @inline(__always)
    static func wait(_ function: StaticString, on fd: Int32 = -1, _ call: () -> Int) throws(IOError) -> Int {
        #if DEBUG
        if let injected = FaultInjection.errno(for: function, fd) {
            if injected == EINTR || injected == EAGAIN { return 0 }
            throw IOError(errno: injected, function: "\(function)")
        }
        #endif
        let result = call()
        if result >= 0 { return result }
        let error = currentErrno()
        if error == EINTR || error == EAGAIN { return 0 }
        throw IOError(errno: error, function: "\(function)")
    }

    // MARK: Reading and writing. Nil: would block. 0 from a read: end of file.

    /// Reads what is available, as far as it fits into the buffer.
    @inline(__always)
    package static func read(_ fd: Int32, into buffer: UnsafeMutableRawBufferPointer) throws(IOError) -> Int?
    {
        try perform("read", on: fd) { unsafe sysRead(fd, buffer.baseAddress, buffer.count) }
    }

    /// Writes as much as the descriptor accepts.
    @inline(__always)
    package static func write(_ fd: Int32, _ bytes: UnsafeRawBufferPointer) throws(IOError) -> Int? {
        try perform("write", on: fd) { unsafe sysWrite(fd, bytes.baseAddress, bytes.count) }
    }

    static func pread(
        _ fd: Int32, into buffer: UnsafeMutableRawBufferPointer, at offset: Int
    ) throws(IOError) -> Int {
        try require("pread", on: fd) { unsafe sysPread(fd, buffer.baseAddress, buffer.count, offset) }
    }

    /// Writes everything to a descriptor that may block.
    static func writeAll(_ fd: Int32, _ bytes: UnsafeRawBufferPointer) throws(IOError) {
        var written = 0
        while written < bytes.count {
            let rest = unsafe UnsafeRawBufferPointer(rebasing: bytes[written...])
            written += try require("write", on: fd) { unsafe sysWrite(fd, rest.baseAddress, rest.count) }
        }
    }

    // MARK: Descriptors

    /// Closes a descriptor. Never retried: on Linux the descriptor is closed even when close reports EINTR.
    static func close(_ fd: Int32) { _ = sysClose(fd) }

    static func duplicate(_ fd: Int32, atLeast minimum: Int32) throws(IOError) -> Int32 {
        Int32(truncatingIfNeeded: try require("dup", on: fd) { Int(fcntl(fd, F_DUPFD_CLOEXEC, minimum)) })
    }

    /// Makes `target` refer to what `fd` refers to, without close-on-exec.
    static func duplicate(_ fd: Int32, onto target: Int32) throws(IOError) {
        try require("dup2", on: fd) { Int(dup2(fd, target)) }
    }

    /// Opens a file with close-on-exec and without making it a controlling terminal.
    static func open(_ path: String, _ flags: Int32, mode: mode_t = 0) throws(IOError) -> FileDescriptor {
        try openat(AT_FDCWD, path, flags, mode: mode)
    }

    static func openat(
        _ directory: Int32, _ path: String, _ flags: Int32, mode: mode_t = 0
    ) throws(IOError) -> FileDescriptor {
        let flags = flags | O_CLOEXEC | O_NOCTTY
        let fd = try require("open", on: directory) { Int(sysOpenat(directory, path, flags, mode)) }
        return FileDescriptor(owning: Int32(truncatingIfNeeded: fd))
    }

    static func status(_ fd: Int32) throws(IOError) -> stat {
        var status = stat()
        try require("fstat", on: fd) { Int(unsafe fstat(fd, &status)) }
        return status
    }

    static func statusFlags(_ fd: Int32) throws(IOError) -> Int32 {
        Int32(truncatingIfNeeded: try require("fcntl", on: fd) { Int(fcntl(fd, F_GETFL)) })
    }

    /// Sets O_NONBLOCK on the open file description; use it only for descriptions that are not shared with
    /// other processes.
    package static func setNonBlocking(_ fd: Int32) throws(IOError) {
        let flags = try statusFlags(fd)
        try require("fcntl", on: fd) { Int(fcntl(fd, F_SETFL, flags | O_NONBLOCK)) }
    }

    /// Sets close-on-exec: on inherited descriptors, and on systems on which no call creates a descriptor
    /// with the flag already set.
    ///
    /// A program that another thread starts in between could inherit the descriptor; our own programs are
    /// started with POSIX_SPAWN_CLOEXEC_DEFAULT.
    static func setCloseOnExec(_ fd: Int32) throws(IOError) {
        try require("fcntl", on: fd) { Int(fcntl(fd, F_SETFD, FD_CLOEXEC)) }
    }

    /// Returns the number of bytes that were written to a pipe and that nobody has read yet; nil where the
    /// system does not tell the writer.
    static func unreadBytes(_ fd: Int32) -> Int? {
        #if os(Linux)
        let count = mcp_unread_bytes(fd)
        return count < 0 ? nil : Int(count)
        #else
        return nil
        #endif
    }

    /// Creates a close-on-exec pipe whose ends are both at least 3, so that they survive being moved to 0, 1
    /// or 2.
    static func pipe(nonBlocking: Bool = false) throws(IOError) -> (Int32, Int32) {
        var ends: [Int32] = [-1, -1]
        #if os(Linux)
        let flags = O_CLOEXEC | (nonBlocking ? O_NONBLOCK : 0)
        try require("pipe") {
            Int(unsafe ends.withUnsafeMutableBufferPointer { unsafe mcp_pipe2($0.baseAddress, flags) })
        }
        #else
        try require("pipe") {
            Int(unsafe ends.withUnsafeMutableBufferPointer { unsafe sysPipe($0.baseAddress) })
        }
        #endif
        let reader = FileDescriptor(owning: ends[0])
        let writer = FileDescriptor(owning: ends[1])
        #if !os(Linux)
        for end in ends {
            try setCloseOnExec(end)
            if nonBlocking { try setNonBlocking(end) }
        }
        #endif
        let movedReader = reader.rawValue < 3 ? try reader.duplicate() : reader
        let movedWriter = writer.rawValue < 3 ? try writer.duplicate() : writer
        return (movedReader.release(), movedWriter.release())
    }

    // MARK: Readiness

    /// Waits until one of `entries` is ready; returns the number of entries that are. Negative timeout: no
    /// limit.
    ///
    /// A signal is reported as 0 ready entries, because the caller has to compute its remaining time.
    package static func poll(_ entries: inout [pollfd], timeoutMilliseconds: Int32) throws(IOError) -> Int {
        try wait("poll") {
            unsafe entries.withUnsafeMutableBufferPointer { buffer in
                Int(unsafe sysPoll(buffer.baseAddress, nfds_t(buffer.count), timeoutMilliseconds))
            }
        }
    }

    /// Returns whether `fd` is ready for one of `events` right now (also when it is at end of file or
    /// broken).
    static func isReady(_ fd: Int32, _ events: Int32) throws(IOError) -> Bool {
        var entry = pollfd(fd: fd, events: Int16(truncatingIfNeeded: events), revents: 0)
        return try perform("poll", on: fd) { Int(unsafe sysPoll(&entry, 1, 0)) } == 1
    }
}

// The C functions under other names: inside `Syscalls`, their own names refer to its members.
@inline(__always)
private func sysRead(_ fd: Int32, _ buffer: UnsafeMutableRawPointer?, _ count: Int) -> Int {
    unsafe read(fd, buffer, count)
}

@inline(__always)
private func sysWrite(_ fd: Int32, _ buffer: UnsafeRawPointer?, _ count: Int) -> Int {
    unsafe write(fd, buffer, count)
}

private func sysPread(_ fd: Int32, _ buffer: UnsafeMutableRawPointer?, _ count: Int, _ offset: Int) -> Int {
    unsafe pread(fd, buffer, count, off_t(offset))
}

private func sysClose(_ fd: Int32) -> Int32 { close(fd) }

private func sysOpenat(_ directory: Int32, _ path: String, _ flags: Int32, _ mode: mode_t) -> Int32 {
    unsafe openat(directory, path, flags, mode)
}

private func sysPoll(_ entries: UnsafeMutablePointer<pollfd>?, _ count: nfds_t, _ timeout: Int32) -> Int32 {
    unsafe poll(entries, count, timeout)
}

#if !os(Linux)
private func sysPipe(_ ends: UnsafeMutablePointer<Int32>?) -> Int32 { unsafe pipe(ends) }
#endif
