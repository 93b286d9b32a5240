/// An open file descriptor with one owner, closed when the owner lets go of it.
package struct FileDescriptor: ~Copyable, Sendable {
    /// The number, for system calls during the owner's life.
    package let rawValue: Int32

    /// Takes over an open descriptor.
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

    /// Gives the open descriptor to the caller, who must close it.
    package consuming func release() -> Int32 {
        let raw = rawValue
        Census.count(.descriptor, -1)
        discard self
        return raw
    }

    /// The number of an optional descriptor, or -1.
    package static func rawValue(of descriptor: borrowing FileDescriptor?) -> Int32 {
        switch descriptor {
        case .some(let descriptor): descriptor.rawValue
        case .none: -1
        }
    }

    /// A second descriptor of the same open file description, close-on-exec and at least `minimum`.
    package func duplicate(atLeast minimum: Int32 = 3) throws(IOError) -> FileDescriptor {
        FileDescriptor(owning: try Syscalls.duplicate(rawValue, atLeast: minimum))
    }
}
