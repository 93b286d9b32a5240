import TestSupport

#if os(Linux)
import Dispatch
import Glibc
import Synchronization
import Testing

@testable import MCPCore

protocol Watching { func cancel() }
extension DirectoryWatch: Watching {}
extension DirectoryScan: Watching {}

@Suite(.serialized, .timeLimit(.minutes(5))) struct DirectoryWatchTests {
    /// What a watch has told since the last look.
    private final class Told: Sendable {
        private struct State {
            var changes = DirectoryWatch.Changes()
            var calls = 0
            var failures: [RootError] = []
        }
        private let state = Mutex(State())

        func add(_ new: DirectoryWatch.Changes) {
            state.withLock { state in
                state.calls += 1
                state.changes.written.formUnion(new.written)
                if new.isListChanged { state.changes.isListChanged = true }
                if new.areLost { state.changes.areLost = true }
                if let failure = new.failure { state.failures.append(failure) }
            }
        }

        var failures: [RootError] { state.withLock { $0.failures } }
        var calls: Int { state.withLock { $0.calls } }
        var written: Set<String> { state.withLock { $0.changes.written } }
        var isListChanged: Bool { state.withLock { $0.changes.isListChanged } }
        var areLost: Bool { state.withLock { $0.changes.areLost } }
        func clear() { state.withLock { $0 = State() } }
    }

    private let directory = TemporaryDirectory()
    private let told = Told()

    /// What watches on Linux, and what does on other systems.
    enum Mechanism: CaseIterable { case notifications, scans }

    private func watch(
        _ name: String = "root", _ interest: DirectoryWatch.Interest = .init(), by mechanism: Mechanism
    ) throws -> any Watching {
        let path = "\(directory.path)/\(name)"
        switch mechanism {
        case .notifications: return try watch(name, interest)
        case .scans:
            return try DirectoryScan(path, interest, interval: .milliseconds(20)) { [told] in told.add($0) }
        }
    }

    private func watch(
        _ name: String = "root", _ interest: DirectoryWatch.Interest = .init()
    ) throws -> DirectoryWatch {
        try DirectoryWatch("\(directory.path)/\(name)", interest) { [told] in told.add($0) }
    }

    /// Writes in place, as `>` of a shell does.
    private func write(_ path: String) throws {
        let file = try Syscalls.open("\(directory.path)/\(path)", O_WRONLY | O_CREAT | O_TRUNC, mode: 0o600)
        try writeText(file.rawValue, "x")
    }

    private func rename(_ old: String, _ new: String) {
        #expect(unsafe Glibc.rename("\(directory.path)/\(old)", "\(directory.path)/\(new)") == 0)
    }

    private func remove(_ path: String) throws {
        _ = try ProcessRunner.run(ProcessLaunch("/bin/rm", ["-rf", "\(directory.path)/\(path)"]))
    }

    /// What is told from here on happened after this.
    private func settle(_ folder: String = "root") async throws {
        let mark = "mark\(UInt64.random(in: 0 ... .max))"
        // Directories beneath the root are found while the program goes on, so the first may come too early.
        var isTold = false
        for _ in 0 ..< 10 where !isTold {
            try write("\(folder)/\(mark)")
            isTold = await comesTrue(within: 1) { told.written.contains { $0.hasSuffix(mark) } }
        }
        #expect(isTold)
        // The mark itself came; its moment is over when another one has been told.
        told.clear()
    }

    @Test(arguments: Mechanism.allCases) func filesThatAreWrittenComeAndGo(_ mechanism: Mechanism)
        async throws
    {
        directory.makeDirectory("root")
        try write("root/old")
        let watch = try watch(by: mechanism)
        try await settle()
        try write("root/old")
        #expect(await comesTrue { told.written == ["old"] })
        #expect(!told.isListChanged && !told.areLost)
        told.clear()
        try write("root/new")
        #expect(await comesTrue { told.written == ["new"] && told.isListChanged })
        told.clear()
        // As editors do it: a new file in the place of the old one.
        try directory.write("root/old", "new contents")
        #expect(await comesTrue { told.written.contains("old") })
        told.clear()
        rename("root/old", "root/renamed")
        #expect(await comesTrue { told.isListChanged && told.written == ["renamed"] })
        told.clear()
        try remove("root/new")
        #expect(await comesTrue { told.isListChanged })
        #expect(told.written.isEmpty && !told.areLost)
        watch.cancel()
    }

    @Test(arguments: Mechanism.allCases) func directoriesBeneath(_ mechanism: Mechanism) async throws {
        directory.makeDirectory("root")
        directory.makeDirectory("root/a")
        directory.makeDirectory("root/a/b")
        let watch = try watch(by: mechanism)
        try await settle("root/a/b")
        try write("root/a/b/x")
        #expect(await comesTrue { told.written.contains("a/b/x") })
        // New ones, with what they hold when they come.
        directory.makeDirectory("elsewhere")
        directory.makeDirectory("elsewhere/deep")
        rename("elsewhere", "root/moved")
        try await settle("root/moved/deep")
        try write("root/moved/deep/x")
        #expect(await comesTrue { told.written.contains("moved/deep/x") })
        // Their names change, all the way down.
        rename("root/a", "root/c")
        try await settle("root/c/b")
        try write("root/c/b/x")
        #expect(await comesTrue { told.written.contains("c/b/x") })
        // What has left is nobody's business.
        rename("root/c", "outside")
        try await settle()
        try write("outside/b/x")
        try write("outside/x")
        try write("root/end")
        #expect(await comesTrue { told.written.contains("end") })
        #expect(told.written.allSatisfy { $0 == "end" || $0.hasPrefix("mark") })
        // Something else with its old name.
        directory.makeDirectory("root/a")
        try await settle("root/a")
        try write("root/a/x")
        #expect(await comesTrue { told.written.contains("a/x") })
        watch.cancel()
    }

    #if DEBUG
    @Test(arguments: Mechanism.allCases)
    func aDirectoryThatCannotBeListedIsLookedAtAgain(_ mechanism: Mechanism) async throws {
        for path in ["root", "root/sub", "root/sub/deep"] {
            #expect(unsafe mkdir("\(directory.path)/\(path)", 0o700) == 0)
        }
        let call = FailingCall(0, EIO, beneath: "\(directory.path)/root/sub")
        try await FaultInjection.during(call.plan) {
            let watch = try watch(by: mechanism)
            defer { watch.cancel() }
            #expect(await comesTrue { told.areLost })
            #expect(call.failed != nil && told.failures.count == 1)
            // What is beneath it is watched now.
            try await settle("root/sub/deep")
        }
    }
    #endif

    @Test(arguments: Mechanism.allCases) func onlyWhatIsOfInterest(_ mechanism: Mechanism) async throws {
        directory.makeDirectory("root")
        directory.makeDirectory("root/hidden")
        let watch = try watch(
            "root", .init(files: { $0.hasSuffix(".md") }, directories: { $0 != "hidden" }),
            by: mechanism)
        try write("root/start.md")
        #expect(await comesTrue { told.written.contains("start.md") })
        // One moment later nothing of it is left.
        try write("root/next.md")
        #expect(await comesTrue { told.written.contains("next.md") })
        told.clear()
        try write("root/x.txt")
        try remove("root/x.txt")
        try write("root/hidden/x.md")
        try remove("root/hidden")
        try write("root/next.md")
        #expect(await comesTrue { told.written.contains("next.md") })
        #expect(told.written == ["next.md"])
        #expect(!told.isListChanged)
        watch.cancel()
    }

    // A directory that is removed and made again is watched again.
    @Test(arguments: Mechanism.allCases) func theRootGoesAndComes(_ mechanism: Mechanism) async throws {
        directory.makeDirectory("root")
        let watch = try watch(by: mechanism)
        try await settle()
        for round in 0 ..< 2 {
            // A scan amid the removal of its contents reports these, and the new directory could have the
            // number of the old one: moved away, it is gone at once and keeps its number.
            if mechanism == .notifications { try remove("root") } else { rename("root", "gone\(round)") }
            #expect(await comesTrue { told.isListChanged })
            told.clear()
            directory.makeDirectory("root")
            directory.makeDirectory("root/sub")
            try write("root/sub/early")
            // It was not seen how it came to be.
            #expect(await comesTrue { told.areLost && told.isListChanged })
            told.clear()
            try write("root/sub/late")
            #expect(await comesTrue { told.written.contains("sub/late") })
            told.clear()
        }
        watch.cancel()
    }

    // The same when its parent goes with it, and when another one is put in its place.
    @Test(arguments: Mechanism.allCases) func theRootIsReplaced(_ mechanism: Mechanism) async throws {
        directory.makeDirectory("parent")
        directory.makeDirectory("parent/root")
        let watch = try watch("parent/root", by: mechanism)
        try await settle("parent/root")
        rename("parent/root", "parent/old")
        directory.makeDirectory("parent/root")
        #expect(await comesTrue { told.areLost })
        try await settle("parent/root")
        try write("parent/old/x")
        try write("parent/root/y")
        #expect(await comesTrue { told.written.contains("y") })
        #expect(!told.written.contains("x"))
        told.clear()
        try remove("parent")
        #expect(await comesTrue { told.isListChanged })
        directory.makeDirectory("parent")
        directory.makeDirectory("parent/root")
        #expect(await comesTrue { told.areLost })
        try await settle("parent/root")
        watch.cancel()
    }

    // A symbolic link as the root, which is turned to another directory.
    @Test(arguments: Mechanism.allCases) func theRootIsALink(_ mechanism: Mechanism) async throws {
        for name in ["v1", "v2"] { directory.makeDirectory(name) }
        directory.link("root", to: "v1")
        let watch = try watch(by: mechanism)
        try await settle()
        try write("v1/x")
        #expect(await comesTrue { told.written.contains("x") })
        told.clear()
        directory.link("next", to: "v2")
        rename("next", "root")
        #expect(await comesTrue { told.areLost })
        try await settle("v2")
        watch.cancel()
    }

    /// Of a file that its writer keeps open, only those hear who want to: others read it once it is complete.
    @Test func filesThatStayOpen() async throws {
        directory.makeDirectory("root")
        let watch = try watch("root", .init(openFiles: true))
        let others = Told()
        let second = try DirectoryWatch("\(directory.path)/root") { others.add($0) }
        try await settle()
        let file = try Syscalls.open("\(directory.path)/root/log", O_WRONLY | O_CREAT, mode: 0o600)
        try writeText(file.rawValue, "line 0\n")
        #expect(await comesTrue { told.written.contains("log") })
        let calls = told.calls
        told.clear()
        for number in 1 ... 5_000 { try writeText(file.rawValue, "line \(number)\n") }
        // The last line is in a report, and there is none for each line.
        #expect(await comesTrue { told.written.contains("log") })
        #expect(told.calls + calls < 100, "\(told.calls) calls")
        #expect(await comesTrue { watch.queue.sync { watch.state.growing.isIdle } })
        told.clear()
        #expect(unsafe truncate("\(directory.path)/root/log", 0) == 0)
        #expect(await comesTrue { told.written.contains("log") })
        // Told in the order of the events: nothing but the name of the file has come to the other one.
        try write("root/end")
        #expect(await comesTrue { others.written.contains("end") })
        #expect(!others.written.contains("log"))
        // It was open until here.
        try writeText(file.rawValue, "end\n")
        watch.cancel()
        second.cancel()
    }

    // A burst is told in few pieces, and what is too much for one is not silently less.
    @Test func bursts() async throws {
        directory.makeDirectory("root")
        let watch = try watch()
        try await settle()
        for number in 0 ..< 1_000 { try write("root/f\(number)") }
        try write("root/end")
        #expect(await comesTrue(within: 30) { told.written.contains("end") || told.areLost })
        #expect(told.areLost || told.written.count { $0.hasPrefix("f") } == 1_000)
        #expect(told.calls < 100, "\(told.calls) calls")
        told.clear()
        // Written by another process while the queue of this one is held up.
        watch.queue.suspend()
        for number in 0 ..< 3_000 { try write("root/f\(number % 1_500)") }
        watch.queue.resume()
        #expect(await comesTrue { told.areLost })
        #expect(told.written.count <= DirectoryWatch.maxWritten)
        watch.cancel()
    }

    @Test func aScanReportsABurstAtOnceAndEnds() async throws {
        directory.makeDirectory("root")
        #expect(throws: IOError.self) { try watch("none", by: .scans) }
        let scan = try watch(by: .scans)
        try await settle()
        for number in 0 ..< 2 * DirectoryWatch.maxWritten { try write("root/f\(number)") }
        #expect(await comesTrue { told.areLost || told.written.count == 2 * DirectoryWatch.maxWritten })
        scan.cancel()
        let others = Told()
        let second = try DirectoryScan("\(directory.path)/root", interval: .milliseconds(20)) {
            others.add($0)
        }
        try write("root/x")
        #expect(await comesTrue { others.written.contains("x") })
        #expect(!told.written.contains("x"))
        second.cancel()
    }

    @Test func theEndOfAWatch() async throws {
        directory.makeDirectory("root")
        #expect(throws: IOError.self) { try self.watch("none") }
        let first = try watch()
        try await settle()
        first.cancel()
        first.cancel()
        let others = Told()
        let second = try DirectoryWatch("\(directory.path)/root") { others.add($0) }
        try write("root/x")
        #expect(await comesTrue { others.written.contains("x") })
        #expect(told.calls == 0)
        second.cancel()
    }
}

/// Which reports there are of files whose writers keep them open.
@Suite struct GrowingFilesTests {
    private func grow(_ files: inout GrowingFiles) -> Bool { files.grew("a") }
    private func told(_ files: inout GrowingFiles) -> [String] { files.endSecond().paths }

    /// The first write is reported at once, further ones once a second, the last one always.
    @Test func onceASecond() {
        var files = GrowingFiles(capacity: 4)
        #expect(files.isIdle)
        #expect(grow(&files))
        let again = (0 ..< 10_000).map { _ in files.grew("a") }
        #expect(!again.contains(true))
        // The first report may be a moment ago.
        #expect(told(&files).isEmpty)
        #expect(!grow(&files))
        #expect(told(&files) == ["a"])
        #expect(!grow(&files))
        #expect(told(&files) == ["a"])
        // It is quiet.
        #expect(told(&files).isEmpty)
        #expect(files.isIdle)
        #expect(grow(&files))
    }

    /// What is reported because the file was closed, or is gone, is not reported again.
    @Test func settled() {
        var files = GrowingFiles(capacity: 4)
        let grew = ["a", "a", "b", "b"].map { files.grew($0) }
        #expect(grew == [true, false, true, false])
        files.settle("a")
        _ = files.endSecond()
        #expect(told(&files) == ["b"])
        let last = files.endSecond()
        #expect(last.paths.isEmpty && files.isIdle)
    }

    /// More files than are told apart are reported as "any may have changed", and use no more memory.
    @Test func tooMany() {
        var files = GrowingFiles(capacity: 2)
        let grew = ["a", "b", "c", "d"].map { files.grew($0) }
        #expect(grew == [true, true, false, false])
        let first = files.endSecond()
        #expect(Set(first.paths) == ["c", "d"] && !first.areLost)
        for name in ["e", "f", "g"] { _ = files.grew(name) }
        let second = files.endSecond()
        #expect(second.areLost)
        _ = files.endSecond()
        let last = files.endSecond()
        #expect(!last.areLost && files.isIdle)
    }
}
#endif
