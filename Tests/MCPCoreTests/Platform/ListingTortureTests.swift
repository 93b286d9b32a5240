import TestSupport

#if DEBUG
import Testing

@testable import MCPCore

#if canImport(Darwin)
import Darwin
#elseif canImport(Musl)
import Musl
#else
import Glibc
#endif

/// Each system call of a listing fails once: what comes is the whole list, an error, or a list that says that
/// something is missing and why (`make torture ONLY=listing`).
@Suite(.timeLimit(.minutes(5))) struct ListingTortureTests {
    /// Three directories in one another, with a file, a hidden file and a symlink in each.
    private func makeTree() throws -> TemporaryDirectory {
        let directory = TemporaryDirectory()
        var path = "root"
        for name in ["", "/one", "/two"] {
            path += name
            directory.makeDirectory(path)
            try directory.write("\(path)/a.txt", "x")
            try directory.write("\(path)/.env", "x")
            directory.link("\(path)/link", to: "a.txt")
        }
        return directory
    }

    @Test(arguments: [true, false], [EINTR, EAGAIN, EIO, EMFILE, ENFILE, ENOMEM, EACCES])
    func aListIsNeverShortWithoutAWord(_ fast: Bool, _ number: Int32) async throws {
        let directory = try makeTree()
        let place = "\(directory.path)/root"
        let root = try RootDirectory(place, usesOpenat2: fast)
        let whole = try root.list(maxDepth: 8)
        #expect(whole.entries.count == 11 && !whole.isTruncated)
        let counting = FailingCall(-1, 0, beneath: place)
        try await FaultInjection.during(counting.plan) { _ = try root.list(maxDepth: 8) }
        #expect(counting.calls.count > 30)
        var (short, failed, complete) = (0, 0, 0)
        for index in counting.calls.indices {
            let call = FailingCall(index, number, beneath: place)
            await FaultInjection.during(call.plan) {
                do {
                    let listing = try root.list(maxDepth: 8)
                    if listing == whole {
                        complete += 1
                    } else {
                        // A symlink whose target may not be looked at is a symlink.
                        let isMarked = listing.isTruncated && listing.denied != nil
                        let isLink = listing.entries.count == whole.entries.count
                        #expect(isMarked || isLink, "\(index): \(call.failed ?? "none") \(listing)")
                        #expect(!listing.entries.isEmpty)
                        short += 1
                    }
                } catch {
                    #expect(call.failed != nil, "\(error)")
                    failed += 1
                }
            }
            #expect(call.failed == counting.calls[index])
        }
        switch number {
        case EINTR: #expect(complete == counting.calls.count)
        case EACCES: #expect(short > 0)
        default: #expect(failed > 0 && short == 0)
        }
        print(
            "listing: \(counting.calls.count) failing calls x 3 depths, \(describeErrno(number)): "
                + "\(complete) whole, \(failed) errors, \(short) marked, 0 empty lists")
    }

    @Test func namesOfADirectoryAreAllOrAnError() async throws {
        let directory = try makeTree()
        let place = "\(directory.path)/root"
        let counting = FailingCall(-1, 0, beneath: place)
        try await FaultInjection.during(counting.plan) { _ = try Files.names(in: place) }
        #expect(counting.calls.contains("readdir") && counting.calls.contains("fdopendir"))
        for index in counting.calls.indices {
            let call = FailingCall(index, EIO, beneath: place)
            await FaultInjection.during(call.plan) { () -> Void in
                #expect(throws: IOError.self, "\(counting.calls[index])") { try Files.names(in: place) }
            }
        }
        #expect(throws: IOError(errno: ENOENT, function: "open \(place)/none")) {
            try Files.names(in: "\(place)/none")
        }
        #expect(try Set(Files.names(in: place).names) == ["a.txt", ".env", "link", "one"])
        #expect(try Files.names(in: place, atMost: 2).isTruncated)
    }

    // Too many open files say nothing of the kernel: the slow way would refuse symlinks that are fine.
    @Test func theProbeOfTheKernelIsNoGuess() async throws {
        let directory = try makeTree()
        let place = "\(directory.path)/root"
        let counting = FailingCall(-1, 0, beneath: place)
        try await FaultInjection.during(counting.plan) { _ = try RootDirectory(place) }
        for (index, function) in counting.calls.enumerated() where function == "openat2" {
            let call = FailingCall(index, EMFILE, beneath: place)
            await FaultInjection.during(call.plan) { () -> Void in
                #expect(throws: IOError(errno: EMFILE, function: "openat2")) { try RootDirectory(place) }
            }
            let refused = FailingCall(index, ENOSYS, beneath: place)
            try await FaultInjection.during(refused.plan) {
                let slow = try RootDirectory(place)
                #expect(throws: RootError.outside("link")) { try slow.read("link", maxBytes: 9) }
            }
        }
    }
}
#endif
