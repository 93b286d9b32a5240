import Foundation
import MCPCore
import TestSupport
import Testing

@testable import MCPClientCLI

/// Several processes change the same file, and no change is lost.
@Suite(.timeLimit(.minutes(2))) struct ChangeLockTests {
    private let folder = TemporaryDirectory()
    private let demo = ["--", ProgramRunner.server, "--demo", "--stdio"]
    private var work: String { folder.path + "/work" }

    private func client(_ words: [String]) async throws -> ProgramOutcome {
        try await ProgramRunner.run(
            ProgramRunner.client, words, environment: ["HOME": folder.path], directory: work, limit: 60)
    }

    private func lock(_ path: String) -> ChangeLock {
        let home = folder.path
        return ChangeLock(path, shownAs: "f") { $0 == "HOME" ? home : nil }
    }

    private var lockFile: String {
        get throws {
            let directory = folder.path + "/.local/state/mcpcore/locks"
            return "\(directory)/\(try #require(try Files.names(in: directory).names.first))"
        }
    }

    @Test func noServerIsLost() async throws {
        folder.makeDirectory("work")
        let names = (0 ..< 6).map { "server\($0)" }
        try await withThrowingTaskGroup(of: ProgramOutcome.self) { group in
            for name in names {
                group.addTask { try await client(["config", "add", name, "http://127.0.0.1:1/mcp"]) }
            }
            for try await outcome in group { #expect(outcome.code == 0, "\(outcome.stderr)") }
        }
        let json = try JSONValue(
            parsing: try Files.read(folder.path + "/.config/mcp/mcp.jsonc", maxBytes: 1 << 20))
        #expect(json["mcpServers"]?.objectValue?.keys.sorted() == names)
        // In the project there is nothing but what it had.
        #expect(try Files.names(in: work).names.isEmpty)
    }

    /// Of several conversations that go on with one, each is kept.
    @Test func noTurnIsLost() async throws {
        folder.makeDirectory("work")
        try folder.write("work/model.jsonl", #"{"text": "yes"}"# + "\n")
        let agent = ["agent", "--model", "script:model.jsonl"]
        let first = try await client(agent + ["the first prompt"])
        #expect(first.code == 0, "\(first.stderr)")
        let prompts = (0 ..< 6).map { "prompt number \($0)" }
        try await withThrowingTaskGroup(of: ProgramOutcome.self) { group in
            for prompt in prompts { group.addTask { try await client(agent + ["--continue", prompt]) } }
            for try await outcome in group {
                #expect(outcome.code == 0 && !outcome.stderr.contains("not kept"), "\(outcome.stderr)")
            }
        }
        let state = folder.path + "/.local/state/mcpcore"
        let names = try Files.names(in: state).names.filter { $0.hasPrefix("conversation") }
        #expect(names.allSatisfy { $0.hasSuffix(".json") }, "\(names)")
        let kept = try names.map {
            String(decoding: try Files.read("\(state)/\($0)", maxBytes: 1 << 20), as: UTF8.self)
        }
        for prompt in prompts {
            #expect(kept.contains { $0.contains(prompt) && $0.contains("the first prompt") }, "\(prompt)")
        }
    }

    /// The colours of the page are not worth an error: they apply to this run.
    @Test func theColoursAreLocked() throws {
        let (home, state) = (folder.path, folder.path + "/.local/state/mcpcore")
        let themes = ThemeFile(directory: state) { $0 == "HOME" ? home : nil }
        themes.keep(.light)
        try lock(state + "/host-theme").hold { () throws(Failure) in themes.keep(.dark) }
        #expect(themes.theme == .light)
        themes.keep(.dark)
        #expect(themes.theme == .dark)
    }

    /// Every command that changes a file waits for another one, and gives up after the limit.
    @Test func aFileThatIsBeingChanged() async throws {
        folder.makeDirectory("work")
        try folder.write("work/.mcp.json", #"{"mcpServers": {"ops": {"command": "true"}}}"#)
        let state = folder.path + "/.local/state/mcpcore"
        let commands: [(path: String, words: [String])] = [
            (folder.path + "/.config/mcp/mcp.jsonc", ["config", "add", "new", "http://127.0.0.1:1/mcp"]),
            (state + "/allowed-servers.json", ["config", "allow", "ops"]),
            (work + "/mcp.lock", ["lock"] + demo),
        ]
        let release = DispatchSemaphore(value: 0)
        for command in commands {
            let lock = lock(command.path)
            let isHeld: Bool = await withCheckedContinuation { continuation in
                // A thread that may wait: those of the tasks are needed.
                Thread.detachNewThread {
                    do throws(Failure) {
                        try lock.hold { () throws(Failure) in
                            continuation.resume(returning: true)
                            release.wait()
                        }
                    } catch { continuation.resume(returning: false) }
                }
            }
            #expect(isHeld)
        }
        try await withThrowingTaskGroup(of: ProgramOutcome.self) { group in
            for command in commands { group.addTask { try await client(command.words) } }
            for try await outcome in group {
                #expect(outcome.code == 3 && outcome.duration >= ChangeLock.limit, "\(outcome.stderr)")
                #expect(
                    outcome.stderr.contains(" is being changed by another process; nothing was changed\n"),
                    "\(outcome.stderr)")
            }
        }
        for _ in commands { release.signal() }
        for command in commands {
            let outcome = try await client(command.words)
            #expect(outcome.code == 0, "\(outcome.stderr)")
        }
    }

    @Test func onlyItsOwnerCanOpenTheLock() throws {
        let lock = lock(folder.path + "/f")
        let isDone = try lock.hold { () throws(Failure) in true }
        #expect(isDone)
        let file = try lockFile
        #expect(try Files.info(file).permissions & 0o777 == 0o600)
        // Held once, it is not held twice, also by the same process.
        let inner: Result<Bool, Failure> = try lock.hold { () throws(Failure) in
            do throws(Failure) {
                return .success(try lock.hold(atMost: .zero) { () throws(Failure) in true })
            } catch { return .failure(error) }
        }
        #expect(throws: Failure.self) { try inner.get() }
        #expect(unsafe chmod(file, 0o644) == 0)
        #expect(throws: Failure.self) { try lock.hold { () throws(Failure) in true } }
        #expect(unsafe unlink(file) == 0)
        #expect(unsafe symlink("/dev/null", file) == 0)
        let failure = #expect(throws: Failure.self) { try lock.hold { () throws(Failure) in true } }
        #expect(
            failure?.message == "f cannot be locked: \(file) is a symbolic link; nothing was changed",
            "\(failure?.message ?? "")")
    }

    /// One file has one lock, whatever links lead to it, and whether or not it exists.
    @Test func linksDoNotMatter() throws {
        folder.makeDirectory("real")
        folder.link("link", to: "real")
        for name in ["f", "sub/f"] {
            let outer = lock("\(folder.path)/real/\(name)")
            let inner = lock("\(folder.path)/link/\(name)")
            #expect(throws: Failure.self) {
                try outer.hold { () throws(Failure) in
                    try inner.hold(atMost: .zero) { () throws(Failure) in true }
                }
            }
        }
    }

    /// Without a place for locks, files are changed all the same.
    @Test func nowhereToLock() throws {
        for home in [nil, "/dev/null"] {
            let lock = ChangeLock("/f", shownAs: "f") { $0 == "HOME" ? home : nil }
            let isDone = try lock.hold { () throws(Failure) in true }
            #expect(isDone)
        }
    }
}
