@testable package import MCPCore

package func readOnce(_ fd: Int32, _ count: Int = 4_096) throws(IOError) -> [UInt8]? {
    var buffer = [UInt8](repeating: 0, count: count)
    let got = try unsafe buffer.withUnsafeMutableBufferPointer { buffer throws(IOError) -> Int? in
        unsafe try Syscalls.read(fd, into: UnsafeMutableRawBufferPointer(buffer))
    }
    return got.map { Array(buffer.prefix($0)) }
}

/// Reads a blocking descriptor to its end.
package func readAll(_ fd: Int32) throws(IOError) -> String {
    var bytes: [UInt8] = []
    while let piece = try readOnce(fd), !piece.isEmpty { bytes += piece }
    return String(decoding: bytes, as: UTF8.self)
}

package func writeText(_ fd: Int32, _ text: String) throws(IOError) {
    try unsafe Array(text.utf8).withUnsafeBufferPointer { bytes throws(IOError) in
        unsafe try Syscalls.writeAll(fd, UnsafeRawBufferPointer(bytes))
    }
}

package struct NothingThere: Error {
    package init() {}
}

/// `#require` for what cannot be copied.
package func unwrap(_ descriptor: consuming FileDescriptor?) throws -> FileDescriptor {
    guard let descriptor else { throw NothingThere() }
    return descriptor
}

package func text(_ bytes: [UInt8]) -> String { String(decoding: bytes, as: UTF8.self) }

package func openFile(_ path: String, _ flags: Int32) throws(IOError) -> FileDescriptor {
    try Syscalls.open(path, flags)
}

package func makePipe() throws(IOError) -> (reader: Int32, writer: Int32) { try Syscalls.pipe() }

package func closeDescriptor(_ fd: Int32) { Syscalls.close(fd) }
