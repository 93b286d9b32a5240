/// An open file or directory that a child receives.
package final class PassedDescriptor: Sendable {
    /// The number of descriptors that one child can receive, besides its streams.
    package static let maxCount = 4
    /// The child's number of the first one.
    static let first: Int32 = 3

    private let counted = Counted(.passedDescriptor)
    private let descriptor: FileDescriptor

    var rawValue: Int32 { descriptor.rawValue }

    /// Duplicates a descriptor to a number that no child has for another one.
    init(_ descriptor: borrowing FileDescriptor) throws(IOError) {
        self.descriptor = FileDescriptor(
            owning: try Syscalls.duplicate(
                descriptor.rawValue, atLeast: Self.first + Int32(clamping: Self.maxCount)))
    }

    /// Whether a child can open what it receives by a path.
    package static var havePaths: Bool {
        #if os(Linux)
        true
        #else
        // There, /dev/fd gives no directories, and no file that was opened without the right to read it.
        false
        #endif
    }

    /// Returns the path with which a child opens the descriptor at an index of `ProcessLaunch.descriptors`.
    package static func path(_ index: Int) -> String { "\(folder)\(Int(first) + index)" }

    /// Whether a path is one of those, which mean nothing in this process.
    static func isPath(_ path: String) -> Bool { path.utf8.starts(with: folder.utf8) }

    private static let folder = "/proc/self/fd/"
}

extension RootDirectory {
    /// Opens a file or directory beneath the root for a child, without the right to read or write it: the
    /// child opens it once more by `PassedDescriptor.path(_:)`, with the rights that the child has.
    package func descriptor(of relative: String) throws(RootError) -> PassedDescriptor {
        let file = try open(relative, Self.inspect)
        do throws(IOError) { return try PassedDescriptor(file) } catch {
            throw .failed(error.applied(to: relative))
        }
    }
}
