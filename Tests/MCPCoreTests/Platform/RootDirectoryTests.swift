import Dispatch
import Synchronization
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

@Suite struct RootDirectoryTests {
    /// root/ with files, next to root-evil/ and a secret.
    private struct Tree {
        let directory = TemporaryDirectory()
        var rootPath: String { "\(directory.path)/root" }

        init() throws(IOError) {
            directory.makeDirectory("root")
            directory.makeDirectory("root/sub")
            directory.makeDirectory("root-evil")
            try directory.write("secret", "canary")
            try directory.write("root-evil/secret", "canary")
            try directory.write("root/a.txt", "hello")
            try directory.write("root/sub/b.txt", "world")
            directory.link("root/out", to: "../secret")
            directory.link("root/absolute", to: "\(directory.path)/secret")
            directory.link("root/outdir", to: "../root-evil")
            directory.link("root/chain", to: "chain2")
            directory.link("root/chain2", to: "out")
            directory.link("root/loop", to: "loop")
            directory.link("root/inside", to: "sub/b.txt")
            directory.link("root/magic", to: "/proc/self/root/etc/passwd")
            // A slash with a combining mark behind it is one Character, and no "/".
            try directory.write("root-evil/\u{301}x", "canary")
            directory.makeDirectory("root-evil/\u{301}d")
            try directory.write("root-evil/\u{301}d/secret", "canary")
            try directory.write("root/sub/\u{301}y", "marks")
            directory.link("root/sub/outdir", to: "../../root-evil")
            directory.link("root/sub/up", to: "..")
            directory.makeDirectory("root/sub/deep")
            directory.link("root/sub/deep/outdir", to: "../../../root-evil")
            directory.link("root/sub/deep/out", to: "../../../secret")
        }
    }

    // Fault rows 43, 96 and 97
    @Test(
        arguments: [
            "../secret", "/etc/passwd", "sub/../../secret", "..", "sub/..", "./../secret",
            "../root-evil/secret",
            "/", "//etc/passwd", "", "a\0b", "out", "absolute", "outdir/secret", "chain", "loop", "magic",
            "a.txt/../../secret", String(repeating: "x/", count: 3_000), String(repeating: "n", count: 300),
            "/proc/self/mem", "outdir/../secret", "missing", "a.txt/x",
            "outdir/\u{301}x", "outdir/\u{301}d/secret", "sub/outdir/secret", "sub/outdir/\u{301}x",
            "sub/up/outdir/\u{301}x", "sub/up/../../secret", "sub/deep/out", "sub/deep/outdir/secret",
            "sub/deep/outdir/\u{301}x", "sub/deep/outdir//\u{301}x", "sub/deep/outdir/./\u{301}x",
            "sub/deep/../../../secret", "sub/\u{301}y/../../../secret", "./\u{301}/../secret", "sub/\u{301}",
            "/\u{301}x", "sub/\0/b.txt", "\u{301}", "..\u{301}/secret", "\u{2024}\u{2024}/secret",
            "\u{FF0F}etc/passwd", "a.txt/", "a.txt/.", "a.txt//", "sub/b.txt/", ".", "./", "sub/", "out/",
            "outdir/",
        ], [true, false])
    func pathsCannotLeave(_ path: String, _ fast: Bool) throws {
        let tree = try Tree()
        let root = try RootDirectory(tree.rootPath, usesOpenat2: fast)
        #expect(throws: RootError.self) { try root.read(path, maxBytes: 1_000) }
        // Directories are listed and inspected, and programs get names, on the same terms.
        let listing = try? root.list(path, maxDepth: 8)
        #expect(
            listing?.entries.contains { $0.path.contains("secret") || $0.path.contains("root-evil") } != true)
        if let name = try? root.resolve(path) {
            #expect(name == tree.rootPath || name.hasPrefix(tree.rootPath + "/"))
        }
    }

    // The same names in every spelling at every depth, with the kernel's help and without.
    @Test(arguments: [true, false]) func symlinksThatLeadOutDoSoAtNoDepth(_ fast: Bool) throws {
        let tree = try Tree()
        let root = try RootDirectory(tree.rootPath, usesOpenat2: fast)
        var refused = 0
        for top in ["", "sub/", "sub/deep/", "./sub//deep/./"] {
            for slash in ["/", "//", "/./", "/.//"] {
                for name in ["secret", "\u{301}x", "\u{301}d/secret", "\u{301}d\(slash)secret"] {
                    let path = "\(top)outdir\(slash)\(name)"
                    #expect(throws: RootError.self) { try root.read(path, maxBytes: 100) }
                    #expect(throws: RootError.self) { try root.info(path) }
                    #expect(throws: RootError.self) { try root.resolve(path) }
                    refused += 1
                }
                for directory in ["outdir\(slash)\u{301}d", "outdir\(slash)"] {
                    #expect(throws: RootError.self) { try root.list(top + directory) }
                }
            }
        }
        #expect(refused == 64)
        #expect(text(try root.read("sub/\u{301}y", maxBytes: 9).bytes) == "marks")
        #expect(try root.info("sub/\u{301}y").kind == .file)
        #expect(try root.resolve("sub/\u{301}y").utf8.elementsEqual("\(tree.rootPath)/sub/\u{301}y".utf8))
    }

    @Test func pathsAreSplitAsTheKernelDoes() throws {
        #expect(try RootDirectory.components("a//./b/\u{301}c/") == ["a", "b", "\u{301}c"])
        #expect(try RootDirectory.components("a/\u{301}c").count == 2)
        #expect(try RootDirectory.components(".") == [])
        for path in ["/a", "/\u{301}a", "..", "a/..", "../a", "a/../b"] {
            #expect(throws: RootError.outside(path)) { try RootDirectory.components(path) }
        }
        for path in ["", "a\0", "\0", String(repeating: "a", count: 4_097)] {
            #expect(throws: RootError.invalid(path)) { try RootDirectory.components(path) }
        }
        #expect(Files.components("/a//b", omittingEmpty: false) == ["", "a", "", "b"])
    }

    @Test(arguments: [true, false]) func filesInsideAreRead(_ fast: Bool) throws {
        let tree = try Tree()
        let root = try RootDirectory(tree.rootPath, usesOpenat2: fast)
        for path in ["a.txt", "./a.txt", "sub//b.txt", "sub/./b.txt"] {
            let (bytes, info) = try root.read(path, maxBytes: 5)
            #expect(text(bytes) == (path.contains("a") ? "hello" : "world"))
            #expect(info.size == 5 && info.kind == .file)
        }
        #expect(try root.info("sub").kind == .directory)
        // Symlinks that stay inside are followed where the kernel can prove it, and refused otherwise.
        if fast {
            #expect(text(try root.read("inside", maxBytes: 10).bytes) == "world")
        } else {
            #expect(throws: RootError.outside("inside")) { try root.read("inside", maxBytes: 10) }
        }
    }

    @Test func errorsAreTellingThingsApart() throws {
        let tree = try Tree()
        let root = try RootDirectory(tree.rootPath)
        #expect(throws: RootError.outside("out")) { try root.read("out", maxBytes: 9) }
        #expect(throws: RootError.notFound("missing")) { try root.read("missing", maxBytes: 9) }
        #expect(throws: RootError.notRegular("sub")) { try root.read("sub", maxBytes: 9) }
        #expect(throws: RootError.tooLarge("a.txt", limit: 4)) { try root.read("a.txt", maxBytes: 4) }
        #expect(throws: RootError.invalid("a\0b")) { try root.read("a\0b", maxBytes: 9) }
        #expect { try RootDirectory("\(tree.rootPath)/a.txt") } throws: {
            "\($0)".contains("Not a directory")
        }
    }

    // Fault row 98
    @Test(.timeLimit(.minutes(5)), arguments: [true, false]) func onlyRegularFilesAreOpened(_ fast: Bool)
        throws
    {
        let tree = try Tree()
        let fifo = unsafe mkfifo("\(tree.rootPath)/fifo", 0o600)
        #expect(fifo == 0)
        let address = try #require(SocketAddress(unixPath: "\(tree.rootPath)/socket"))
        let socket = try Syscalls.streamSocket(address.domain)
        try Syscalls.bind(socket.rawValue, to: address)
        let root = try RootDirectory(tree.rootPath, usesOpenat2: fast)
        for path in ["fifo", "socket", "sub"] {
            #expect(throws: RootError.notRegular(path)) { try root.read(path, maxBytes: 9) }
        }
        let device = try RootDirectory("/dev", usesOpenat2: fast)
        #expect(throws: RootError.notRegular("zero")) { try device.read("zero", maxBytes: 9) }
    }

    #if os(Linux)
    // Fault row 98
    @Test func filesWithoutATrueSizeAreLimitedAllTheSame() throws {
        let root = try RootDirectory("/proc/self")
        #expect(try root.read("status", maxBytes: 100_000).bytes.isEmpty == false)
        #expect(throws: RootError.tooLarge("status", limit: 10)) { try root.read("status", maxBytes: 10) }
        #expect(throws: RootError.self) { try root.read("fd/0", maxBytes: 10) }
        #expect(throws: RootError.self) { try root.read("root/etc/passwd", maxBytes: 10_000) }
        #expect(throws: RootError.self) { try root.read("cwd/Package.swift", maxBytes: 10_000) }
    }
    #endif

    // Fault row 98
    @Test func hugeSparseFilesAreRefusedUnread() throws {
        let tree = try Tree()
        let file = try Syscalls.open("\(tree.rootPath)/huge", O_WRONLY | O_CREAT, mode: 0o600)
        #expect(ftruncate(file.rawValue, 1 << 40) == 0)
        let root = try RootDirectory(tree.rootPath)
        #expect(throws: RootError.tooLarge("huge", limit: 1_000)) { try root.read("huge", maxBytes: 1_000) }
    }

    // Fault row 97: a name is swapped between a file and a symlink that leads out
    @Test(.ownThreads, arguments: [true, false]) func swappedNamesNeverLeadOut(_ fast: Bool) throws {
        let tree = try Tree()
        let root = try RootDirectory(tree.rootPath, usesOpenat2: fast)
        let path = "\(tree.rootPath)/swap"
        let isOver = Atomic<Bool>(false)
        let ended = Promise<Bool>()
        DispatchQueue(label: "swap").async {
            while !isOver.load(ordering: .relaxed) {
                _ = unsafe symlink("../secret", path + ".link")
                _ = unsafe rename(path + ".link", path)
                _ = unsafe link("\(tree.rootPath)/a.txt", path + ".file")
                _ = unsafe rename(path + ".file", path)
            }
            ended.fulfil(true)
        }
        var (wasRead, refused) = (0, 0)
        for _ in 0 ..< 200_000 where wasRead < 5_000 || refused < 5_000 {
            do {
                #expect(text(try root.read("swap", maxBytes: 100).bytes) == "hello")
                wasRead += 1
            } catch { refused += 1 }
        }
        isOver.store(true, ordering: .relaxed)
        #expect(ended.wait() == true)
        #expect(wasRead > 0 && refused > 0)
    }

    @Test func listingsAreSortedAndStayInside() throws {
        let tree = try Tree()
        let root = try RootDirectory(tree.rootPath)
        let listing = try root.list(maxDepth: 8)
        #expect(!listing.isTruncated && listing.unreadableNames == 0)
        #expect(
            listing.entries.map(\.path) == [
                "a.txt", "absolute", "chain", "chain2", "inside", "loop", "magic", "out", "outdir", "sub",
                "sub/b.txt", "sub/deep", "sub/deep/out", "sub/deep/outdir", "sub/outdir", "sub/up",
                "sub/\u{301}y",
            ])
        let kinds = Dictionary(uniqueKeysWithValues: listing.entries.map { ($0.path, $0.info.kind) })
        #expect(kinds["inside"] == .file && kinds["out"] == .symlink && kinds["outdir"] == .symlink)
        #expect(try root.list("sub/deep").entries.map(\.path) == ["sub/deep/out", "sub/deep/outdir"])
        #expect(try root.list(maxDepth: 1).entries.count == 10)
        #expect(throws: RootError.self) { try root.list("outdir") }
        #expect(throws: RootError.self) { try root.list("..") }
        #expect(try root.list(maxDepth: 8, maxEntries: 3).isTruncated)
        #expect(try root.list(maxDepth: 8, maxEntries: 3).entries.count == 3)
    }

    // Fault row 99
    @Test func strangeNamesAreListedOrCounted() throws {
        let tree = try Tree()
        let names = ["-rf", "new\nline", "\u{202E}x", "a b"]
        for name in names { try tree.directory.write("root/sub/\(name)", "x") }
        let invalid: [CChar] = Array("\(tree.rootPath)/sub/".utf8CString.dropLast()) + [-1, -2, 0]
        let fd = unsafe invalid.withUnsafeBufferPointer { unsafe creat($0.baseAddress!, 0o600) }
        #expect(fd >= 0)
        Syscalls.close(fd)
        let root = try RootDirectory(tree.rootPath)
        let listing = try root.list("sub")
        let there = ["b.txt", "deep", "outdir", "up", "\u{301}y"]
        #expect(Set(listing.entries.map(\.path)) == Set((names + there).map { "sub/\($0)" }))
        #expect(listing.unreadableNames == 1)
        for entry in listing.entries where entry.info.kind == .file {
            #expect(try root.read(entry.path, maxBytes: 10).info.kind == .file)
        }
    }
}
