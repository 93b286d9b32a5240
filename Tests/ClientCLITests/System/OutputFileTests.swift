import Foundation
import Testing

@testable import MCPClientCLI

/// What `-o` does with the files of the user.
struct OutputFileTests {
    private final class Folder {
        let path = NSTemporaryDirectory() + "mcp-output-\(UUID().uuidString.prefix(8))"

        init() throws {
            try FileManager.default.createDirectory(atPath: path, withIntermediateDirectories: false)
        }

        deinit { try? FileManager.default.removeItem(atPath: path) }

        func file(_ name: String, _ text: String? = nil, mode: Int = 0o644) throws -> String {
            let file = "\(path)/\(name)"
            if let text {
                try text.write(toFile: file, atomically: false, encoding: .utf8)
                try FileManager.default.setAttributes([.posixPermissions: mode], ofItemAtPath: file)
            }
            return file
        }

        var names: [String] { (try? FileManager.default.contentsOfDirectory(atPath: path).sorted()) ?? ["?"] }
    }

    private func text(_ path: String) -> String? { try? String(contentsOfFile: path, encoding: .utf8) }

    private func mode(_ path: String) throws -> Int? {
        try FileManager.default.attributesOfItem(atPath: path)[.posixPermissions] as? Int
    }

    @Test func nothingIsThereBeforeTheResult() throws {
        let folder = try Folder()
        let path = try folder.file("new.txt")
        let file = try OutputFile(path)
        #expect(folder.names.isEmpty)
        try file.write(Array("whole".utf8))
        #expect(text(path) == "whole")
        #expect(folder.names == ["new.txt"])
    }

    @Test func aFileThatIsThereKeepsItsPermissions() throws {
        let folder = try Folder()
        let path = try folder.file("old.txt", "old", mode: 0o640)
        let file = try OutputFile(path)
        #expect(text(path) == "old")
        try file.write(Array("new".utf8))
        #expect(text(path) == "new")
        #expect(try mode(path) == 0o640)
        #expect(folder.names == ["old.txt"])
    }

    /// The hint names the directory that is missing, and not that of the link.
    @Test func aLinkIntoAMissingDirectory() throws {
        let folder = try Folder()
        let link = try folder.file("link")
        try FileManager.default.createSymbolicLink(atPath: link, withDestinationPath: "gone/x")
        do {
            _ = try OutputFile(link)
            Issue.record("a file in a missing directory")
        } catch {
            #expect(error.hint == "mkdir -p \(folder.path)/gone makes its directory")
        }
    }

    /// The link stays, and what it points to is written, there or not.
    @Test(arguments: [true, false]) func links(isThere: Bool) throws {
        let folder = try Folder()
        let target = try folder.file("target", isThere ? "old" : nil)
        let link = try folder.file("link")
        try FileManager.default.createSymbolicLink(atPath: link, withDestinationPath: "target")
        try OutputFile(link).write(Array("new".utf8))
        #expect(text(target) == "new")
        #expect(try FileManager.default.destinationOfSymbolicLink(atPath: link) == "target")
        #expect(folder.names == ["link", "target"])
    }

    /// A file with two names is written in its place, so that both have the new content.
    @Test func aFileWithTwoNames() throws {
        let folder = try Folder()
        let (first, second) = (try folder.file("first", "a long old text"), try folder.file("second"))
        try FileManager.default.linkItem(atPath: first, toPath: second)
        try OutputFile(first).write(Array("new".utf8))
        #expect(text(second) == "new")
    }

    @Test func whatCannotBeWrittenIsToldAtOnce() throws {
        let folder = try Folder()
        for path in [folder.path, "\(folder.path)/", "\(folder.path)/no/such", "\(folder.path)/new/"] {
            let failure = #expect(throws: Failure.self) { try OutputFile(path) }
            #expect(failure?.code == .usage)
            #expect(failure?.details == ["nothing was sent"])
        }
        // Whoever may do everything may write these as well.
        if geteuid() != 0 {
            let path = try folder.file("locked", "old", mode: 0o400)
            #expect(throws: Failure.self) { try OutputFile(path) }
        }
        #expect(!folder.names.contains("new"))
    }

    @Test func aFullDiskIsTold() throws {
        let file = try OutputFile("/dev/full")
        let failure = #expect(throws: Failure.self) { try file.write([1]) }
        #expect(failure?.code == .unreachable)
        #expect(failure?.message == "cannot write /dev/full: No space left on device")
    }

    /// The reader of a pipe sees its end, whether there is a result or not.
    @Test(arguments: [true, false]) func aPipe(hasResult: Bool) throws {
        let folder = try Folder()
        let path = try folder.file("pipe")
        let made = unsafe mkfifo(path, 0o600)
        #expect(made == 0)
        // A reader that does not wait for a writer, so that neither waits for the other on a thread of tests.
        let reader = unsafe open(path, O_RDONLY | O_NONBLOCK | O_CLOEXEC)
        try #require(reader >= 0)
        defer { close(reader) }
        do {
            let file = try OutputFile(path)
            if hasResult { try file.write(Array("through".utf8)) }
        }
        var bytes = [UInt8](repeating: 0, count: 64)
        let count = unsafe read(reader, &bytes, bytes.count)
        #expect(String(decoding: bytes.prefix(max(0, count)), as: UTF8.self) == (hasResult ? "through" : ""))
        #expect(unsafe read(reader, &bytes, bytes.count) == 0, "the reader sees the end")
        #expect(folder.names == ["pipe"])
    }

    // MARK: The program

    @Test func aFailedCommandLeavesNoFile() async throws {
        let folder = try Folder()
        let listener = try LocalListener()
        listener.close()
        for (name, old) in [("new.txt", nil), ("old.txt", "old")] as [(String, String?)] {
            let path = try folder.file(name, old)
            let outcome = try await ProgramRunner.client(
                "-o", path, "read", "127.0.0.1:\(listener.port)", "docs:///x")
            #expect(outcome.code == 3)
            #expect(text(path) == old)
        }
        #expect(folder.names == ["old.txt"])
    }

    @Test func anInterruptedCommandLeavesNoFile() async throws {
        let folder = try Folder()
        let (path, mark) = (try folder.file("new.txt"), try folder.file("called"))
        let server = ShellServer.words(call: "touch \(mark); while :; do sleep 1; done")
        let outcome = try await ProgramRunner.run(
            ProgramRunner.client, ["-o", path, "call", "t", "--"] + server,
            whileRunning: { pid in
                // A thread of its own: those of the global queue notice the ends of processes.
                Thread.detachNewThread {
                    let end = ContinuousClock.now + .seconds(20)
                    while unsafe access(mark, F_OK) != 0, ContinuousClock.now < end { usleep(20_000) }
                    kill(pid, SIGINT)
                }
            })
        #expect(outcome.code == 130)
        #expect(folder.names == ["called"])
    }

    @Test func ourOwnOutputByItsName() async throws {
        let outcome = try await ProgramRunner.run(
            "/bin/sh",
            [
                "-c",
                "echo before; '\(ProgramRunner.client)' --json -o /dev/stdout tools -- '\(ProgramRunner.server)' --demo"
                    + "; echo after",
            ])
        let lines = outcome.stdout.split(separator: "\n")
        #expect(lines.count == 3)
        #expect(lines.first == "before" && lines.last == "after")
    }

    /// The user did not choose the names of files beside FILE: they never lead anywhere else.
    @Test(arguments: [true, false]) func besideTheFileNoLinkIsFollowed(isThere: Bool) throws {
        let folder = try Folder()
        let target = try folder.file("target", isThere ? "old" : nil)
        let link = try folder.file("out-1.bin")
        try FileManager.default.createSymbolicLink(atPath: link, withDestinationPath: "target")
        try OutputFile(beside: link).write(Array("new".utf8))
        #expect(text(target) == (isThere ? "old" : nil))
        #expect(text(link) == "new")
        #expect((try? FileManager.default.destinationOfSymbolicLink(atPath: link)) == nil)
        // The same for the second name of a file.
        let other = try folder.file("other", "kept")
        let second = try folder.file("out-2.bin")
        try FileManager.default.linkItem(atPath: other, toPath: second)
        try OutputFile(beside: second).write(Array("new".utf8))
        #expect(text(other) == "kept" && text(second) == "new")
        for name in [folder.path, folder.path + "/no/such"] {
            #expect(throws: Failure.self) { try OutputFile(beside: name) }
        }
    }

    @Test func commandsUseItBesideTheFile() throws {
        let folder = try Folder()
        let target = try folder.file("target", "old")
        let link = try folder.file("out-1.bin")
        try FileManager.default.createSymbolicLink(atPath: link, withDestinationPath: "target")
        try CommandEnvironment.process().saveFile(Array("new".utf8), link)
        #expect(text(target) == "old" && text(link) == "new")
    }
}
