/// An open file descriptor with one owner, closed when the owner releases it.
package struct FileDescriptor: ~Copyable, Sendable {
    /// The descriptor's number, for system calls during the owner's lifetime.
    package let rawValue: Int32

    /// Takes ownership of an open descriptor.
    @inline(__always)
    package init(owning rawValue: Int32) {
        precondition(rawValue >= 0, "not a descriptor")
        self.rawValue = rawValue
        Census.count(.descriptor, 1)
    }

    deinit {
        Syscalls.close(rawValue)
        Census.count(.descriptor, -1)
    }

    /// Transfers ownership of the open descriptor to the caller, which must close it.
    package consuming func release() -> Int32 {
        let raw = rawValue
        Census.count(.descriptor, -1)
        discard self
        return raw
    }

    /// Returns the number of an optional descriptor, or -1.
    package static func rawValue(of descriptor: borrowing FileDescriptor?) -> Int32 {
        switch descriptor {
        case .some(let descriptor): descriptor.rawValue
        case .none: -1
        }
    }

    /// Returns a second descriptor of the same open file description, close-on-exec and at least `minimum`.
    package func duplicate(atLeast minimum: Int32 = 3) throws(IOError) -> FileDescriptor {
        FileDescriptor(owning: try Syscalls.duplicate(rawValue, atLeast: minimum))
    }
}
