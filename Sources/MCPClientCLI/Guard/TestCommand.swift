import MCPCore

/// `test`: checks what servers do, and reports in the Test Anything Protocol.
struct TestCommand {
    let context: CommandContext
    private var console: Console { context.console }

    func run() async throws(Failure) -> ExitCode {
        let invocation = context.invocation
        var files: [(name: String, file: TestFile)] = []
        // All files are read first: a mistake in the last one is found before anything runs.
        for path in invocation.operands {
            let bytes = try context.environment.file(
                path,
                advice: "\(TestFile.example) is a file of tests; a program after -- replaces its server")
            files.append((path, try TestFile(SourceText(name: inlineText(path), bytes: bytes))))
        }
        let writeReport = try invocation.options.checks.junitFile.map { path throws(Failure) -> FileWriter in
            try InvocationCheck.output(
                path, of: "--junit", invocation, context.environment, servers: servers(of: files.map(\.file)))
            return try context.environment.outputFile(path)
        }
        var report = TestReport(console: console)
        report.begin(files.reduce(0) { $0 + $1.file.tests.count })
        for (index, (name, file)) in files.enumerated() {
            report.suite(name)
            let before = report.count
            do throws(Failure) {
                _ = try await withServer(of: file, at: name) { session throws(Failure) in
                    var hasLists = false
                    for test in file.tests {
                        if let failure = context.stop.failure { throw failure }
                        let start = ContinuousClock.now
                        let failures = await outcome(of: test, session, &hasLists)
                        report.add(test.name, failures, ContinuousClock.now - start)
                    }
                    return .ok
                }
            } catch {
                report.bail(error.message)
                report.leaveOut(file.tests.dropFirst(report.count - before).map(\.name), of: name)
                for (name, file) in files[(index + 1)...] {
                    report.leaveOut(file.tests.map(\.name), of: name)
                }
                try writeReport?(report.junit)
                throw error
            }
        }
        report.end()
        try writeReport?(report.junit)
        return report.failures == 0 ? .ok : .checkFailed
    }

    /// The words for the servers that files name.
    private func servers(of files: [TestFile]) -> [String] {
        if context.invocation.program != nil { return [] }
        return files.compactMap { file in
            if case .target(let word)? = file.server { word } else { nil }
        }
    }

    private func withServer(
        of file: TestFile, at path: String, _ work: (Session) async throws(Failure) -> ExitCode
    ) async throws(Failure) -> ExitCode {
        if context.invocation.program != nil { return try await context.withServer(nil, work) }
        switch file.server {
        case .target(let target): return try await context.withServer(target, work)
        case .program(let words):
            // A relative program is beside the file, wherever the command runs.
            var own = context.invocation
            let absolute = ConfigPlace.absolute(path, in: context.environment.currentDirectory)
            let folder = absolute.lastIndex(of: "/").map { String(absolute[..<$0]) } ?? "/"
            var words = words
            if words[0].contains("/") { words[0] = ConfigPlace.absolute(words[0], in: folder) }
            own.program = words
            own.options.directory = own.options.directory ?? folder
            return try await CommandContext(
                environment: context.environment, console: console, invocation: own, stop: context.stop
            ).withServer(nil, work)
        case nil:
            throw .usage(
                "\(inlineText(path)) names no server",
                hint: #""server": "TARGET" in the file, or -- PROGRAM on the command line"#)
        }
    }

    private func outcome(
        of test: TestFile.Test, _ session: Session, _ hasLists: inout Bool
    ) async -> [String] {
        switch test.action {
        case .request(let method, let params):
            let start = ContinuousClock.now
            let outcome: Result<RawJSON, Failure>
            do throws(Failure) { outcome = .success(try await session.request(method, params)) } catch {
                outcome = .failure(error)
            }
            let failures = test.expectation.failures(
                outcome, milliseconds: TimeSpan.milliseconds(ContinuousClock.now - start))
            guard method == "tools/call", case .success(let result) = outcome else { return failures }
            return failures + (await mismatches(of: result, params, session, &hasLists))
        case .tools(let names):
            do throws(Failure) {
                let snapshot = try await ServerSnapshot.read(session, [.tools])
                let missing = names.filter { snapshot[.tools, $0] == nil }
                return missing.map { "no tool named \(quoted($0))" }
            } catch { return Self.lines(of: error) }
        case .locked:
            do throws(Failure) {
                let locked = try LockedServer(session.invocation, in: session.environment.currentDirectory)
                let snapshot = try await ServerSnapshot.read(session)
                return SnapshotComparison.changes(from: locked.snapshot, to: snapshot).map(\.line)
            } catch { return Self.lines(of: error) }
        }
    }

    /// Returns where the result of a call does not match the output schema of its tool (TOOL-15). A tool that
    /// is not listed has none.
    private func mismatches(
        of result: RawJSON, _ params: JSONObject, _ session: Session, _ hasLists: inout Bool
    ) async -> [String] {
        guard let name = params["name"]?.stringValue,
            let result = try? CallToolResult(json: result.value), !result.isError
        else { return [] }
        if !hasLists {
            hasLists = true
            // What an earlier command has kept may be too old to refuse a result.
            session.client.dropCache()
            do throws(Failure) { try await session.pages("tools/list") { _ throws(Failure) in true } } catch {
                console.note(
                    "note: the tools cannot be listed, so results are not compared with output schemas: "
                        + error.message)
            }
        }
        switch session.client.outputCheck(of: result, of: name) {
        case .matches: return []
        case .stopped(let reason):
            console.note(
                "note: the result of \(inlineText(name)) could not be compared with its output schema: "
                    + inlineText(reason))
            return []
        case .differs(let places):
            return ["the result does not match the output schema of the tool"]
                + places.prefix(6).map { inlineText($0) }
        }
    }

    private static func lines(of failure: Failure) -> [String] {
        [failure.message] + failure.details + (failure.hint.map { ["hint: \($0)"] } ?? [])
    }
}

/// The report of tests: TAP as they run, JUnit's XML at the end.
struct TestReport {
    private struct Case {
        let suite: String
        let name: String
        let failures: [String]
        let duration: Duration
    }

    private let console: Console
    private var cases: [Case] = []
    private var current = ""
    private var aborted: String?
    /// The tests that were not run, with their files.
    private var omitted: [(suite: String, name: String)] = []

    init(console: Console) { self.console = console }

    var count: Int { cases.count }

    var failures: Int { cases.count { !$0.failures.isEmpty } }

    func begin(_ count: Int) {
        console.line("TAP version 14")
        console.line("1..\(count)")
    }

    mutating func suite(_ name: String) { current = name }

    mutating func add(_ name: String, _ failures: [String], _ duration: Duration) {
        cases.append(Case(suite: current, name: name, failures: failures, duration: duration))
        // A number sign would begin a directive.
        let shown = inlineText(name).split(separator: "#", omittingEmptySubsequences: false).joined(
            separator: "\\#")
        let isOK = failures.isEmpty
        let word = isOK ? console.style.green("ok") : console.style.red("not ok")
        console.line("\(word) \(cases.count) - \(shown)")
        for failure in failures { console.line("# " + inlineText(failure)) }
    }

    mutating func bail(_ reason: String) {
        aborted = reason
        console.line("Bail out! \(inlineText(reason))")
    }

    mutating func leaveOut(_ names: [String], of suite: String) { omitted += names.map { (suite, $0) } }

    func end() {
        console.note("\(cases.count - failures) of \(cases.count) passed")
    }

    /// The report in the XML that CI systems read.
    var junit: [UInt8] {
        var lines = ["<?xml version=\"1.0\" encoding=\"UTF-8\"?>"]
        let errors = aborted == nil ? 0 : 1
        lines.append(
            "<testsuites tests=\"\(cases.count + errors + omitted.count)\" failures=\"\(failures)\" "
                + "errors=\"\(errors)\"\(Self.skipped(omitted.count))>")
        var names: [String] = []
        let suites = cases.map(\.suite) + (aborted == nil ? [] : [current]) + omitted.map(\.suite)
        for name in suites where !names.contains(name) {
            names.append(name)
        }
        for name in names {
            let own = cases.filter { $0.suite == name }
            let left = omitted.filter { $0.suite == name }
            let failed = own.count { !$0.failures.isEmpty }
            let isAborted = aborted != nil && name == current
            lines.append(
                "  <testsuite name=\"\(MarkupText.escaped(name))\" "
                    + "tests=\"\(own.count + left.count + (isAborted ? 1 : 0))\" failures=\"\(failed)\" "
                    + "errors=\"\(isAborted ? 1 : 0)\"\(Self.skipped(left.count))>")
            for test in own {
                let milliseconds = Int(TimeSpan.milliseconds(test.duration).rounded())
                let time = "\(milliseconds / 1000).\(String(milliseconds % 1000 + 1000).dropFirst())"
                let head =
                    "    <testcase classname=\"\(MarkupText.escaped(name))\" "
                    + "name=\"\(MarkupText.escaped(test.name))\" time=\"\(time)\""
                if test.failures.isEmpty {
                    lines.append(head + "/>")
                } else {
                    let text = MarkupText.escaped(test.failures.joined(separator: "\n"))
                    lines.append(head + "><failure message=\"\(text)\"/></testcase>")
                }
            }
            if isAborted, let aborted {
                lines.append(
                    "    <testcase classname=\"\(MarkupText.escaped(name))\" name=\"server\">"
                        + "<error message=\"\(MarkupText.escaped(aborted))\"/></testcase>")
            }
            for test in left {
                lines.append(
                    "    <testcase classname=\"\(MarkupText.escaped(name))\" "
                        + "name=\"\(MarkupText.escaped(test.name))\">"
                        + "<skipped message=\"not run\"/></testcase>"
                )
            }
            lines.append("  </testsuite>")
        }
        lines.append("</testsuites>")
        return Array((lines.joined(separator: "\n") + "\n").utf8)
    }

    private static func skipped(_ count: Int) -> String { count == 0 ? "" : " skipped=\"\(count)\"" }
}
