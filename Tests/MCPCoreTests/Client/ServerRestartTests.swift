import MCPCore
import Synchronization
import TestSupport
import Testing

#if canImport(Darwin)
import Darwin
#elseif canImport(Musl)
import Musl
#else
import Glibc
#endif

/// A program that ends by itself and is started again: STDIO-16, STDIO-17, fault 84.
@Suite struct ServerRestartTests {
    /// A server of the shell, which starts quickly. Each start adds a line to the file `starts`.
    ///
    /// `opening` answers the opening requests, and `call` the others, where `$id` is the id of the request.
    private static func server(
        in directory: TemporaryDirectory, opening: String = modern, call: String = "", atStart: String = ""
    ) -> ClientTarget {
        let script = """
            echo $$ >> "$0"
            starts=$(wc -l < "$0")
            result() { printf '{"jsonrpc":"2.0","id":%s,"result":%s}\\n' "$id" "$1"; }
            refuse() { printf '{"jsonrpc":"2.0","id":%s,"error":{"code":%s,"message":"no"}}\\n' "$id" "$1"; }
            \(atStart)
            while read -r line; do
                id=${line#*\\"id\\":}; id=${id%%,*}
                case "$line" in
                \(opening)
                *'"crash"'*) echo "crashing" >&2; kill -9 $$;;
                *'"hang"'*) echo hanging >&2;;
                *'"starts"'*) result "{\\"starts\\":$starts}";;
                \(call)
                esac
            done
            """
        return .command("sh", ["-c", script, "\(directory.path)/starts"])
    }

    private static let modern = "*server/discover*) result '\(Script.discovered)';;"
    private static let legacy = """
        *server/discover*) echo probed >> "$0.probes"; refuse -32601;;
        *'"initialize"'*) result '\(Script.initialized())';;
        *notifications/initialized*) ;;
        """

    private static func options(
        _ attempts: Int = 1_000, initial: Duration = .milliseconds(1), maximum: Duration = .milliseconds(20)
    ) -> ClientOptions {
        var options = ClientOptions()
        options.restart = .backoff(maxAttempts: attempts, initial: initial, maximum: maximum)
        return options
    }

    private static func starts(_ client: MCPClient) async throws -> Int? {
        try await client.request("starts")["starts"]?.int
    }

    private static func lines(_ path: String) -> Int {
        (try? Files.read(path, maxBytes: 1 << 20))?.count { $0 == 0x0A } ?? 0
    }

    @Test(arguments: [modern, legacy]) func comesBack(_ opening: String) async throws {
        let directory = TemporaryDirectory()
        var options = Self.options()
        let stderr = Mutex<[String]>([])
        options.onServerStderr = { line in stderr.withLock { $0.append(line) } }
        let client = try await MCPClient.connect(
            Self.server(in: directory, opening: opening), options: options)
        let version = client.protocolVersion
        let reconnections = Mutex(0)
        client.probe.onReconnect { reconnections.withLock { $0 += 1 } }
        // What is on its way is lost, told so, and never sent again.
        let waiting = Task { await clientError { _ = try await client.request("hang") } }
        await waitUntil { stderr.withLock { $0.contains("hanging") } }
        let crash = await clientError { _ = try await client.request("crash") }
        for error in [await waiting.value, crash] {
            #expect(error?.kind == .connectionClosed)
            #expect(error?.message.contains("killed by signal 9") == true, "\(String(describing: error))")
            #expect(error?.details.contains("stderr: crashing") == true)
            #expect(error?.hint?.contains("the server is being restarted") == true)
        }
        // What is asked meanwhile waits.
        #expect(try await Self.starts(client) == 2)
        await waitUntil { reconnections.withLock { $0 } == 1 }
        #expect(client.protocolVersion == version)
        // The era is known already.
        #expect(Self.lines("\(directory.path)/starts.probes") == (version.isModern ? 0 : 1))
        await client.close()
        let late = await clientError { _ = try await client.request("starts") }
        #expect(late?.kind == .connectionClosed)
        #expect(reconnections.withLock { $0 } == 1)
    }

    @Test func neverByDefault() async throws {
        let directory = TemporaryDirectory()
        let client = try await MCPClient.connect(Self.server(in: directory))
        for _ in 0 ..< 2 {
            let error = await clientError { _ = try await client.request("crash") }
            #expect(error?.kind == .connectionClosed)
        }
        await client.close()
        #expect(Self.lines("\(directory.path)/starts") == 1)
    }

    /// Neither a zombie nor a descriptor is left behind.
    @Test(.timeLimit(.minutes(5))) func hundredRestarts() async throws {
        let directory = TemporaryDirectory()
        let client = try await MCPClient.connect(Self.server(in: directory), options: Self.options())
        let before = try descriptorCount()
        for number in 1 ... 100 {
            #expect(await clientError { _ = try await client.request("crash") }?.kind == .connectionClosed)
            #expect(try await Self.starts(client) == number + 1)
        }
        // Other tests run at the same time; a leak would be of three descriptors for each restart.
        #expect(await comesTrue { (try? descriptorCount()).map { $0 < before + 150 } ?? false })
        await client.close()
        let text = String(
            decoding: try Files.read("\(directory.path)/starts", maxBytes: 1 << 20), as: UTF8.self)
        let pids = text.split(separator: "\n").compactMap { Int32($0) }
        #expect(pids.count == 101)
        // Reaped: a zombie would still have a status.
        #expect(pids.allSatisfy { !exists($0) })
    }

    /// A program that ends at once is given up, with the last lines of its stderr.
    @Test(arguments: ["echo broken $starts >&2; exit 3", "kill -9 $$", "exec 1>&-; echo closed >&2; exit 1"])
    func givesUp(_ death: String) async throws {
        let directory = TemporaryDirectory()
        let client = try await MCPClient.connect(
            Self.server(in: directory, atStart: "[ $starts -gt 1 ] && { \(death); }"),
            options: Self.options(3))
        _ = await clientError { _ = try await client.request("crash") }
        var error: ClientError?
        for _ in 0 ..< 2 {
            error = await clientError { _ = try await client.request("starts") }
            #expect(error?.kind == .connectionClosed)
            #expect(error?.message.contains("3 attempts") == true, "\(String(describing: error))")
        }
        if death.contains("broken") {
            #expect(error?.message.contains("status 3") == true)
            #expect(error?.details == ["stderr: broken 4"])
        }
        #expect(Self.lines("\(directory.path)/starts") == 4)
        await client.close()
    }

    /// A program that runs but cannot be used does not stop the attempts: it is ended first.
    @Test(
        .timeLimit(.minutes(5)),
        arguments: [
            "printf %s $$ > $0.pid; exec sleep 1000",
            #"printf %s $$ > $0.pid; while read -r line; do id=${line#*\"id\":}; id=${id%%,*}; refuse -32603; done"#,
            "printf %s $$ > $0.pid; trap '' TERM; while :; do sleep 0.1; done",
        ])
    func endsWhatCannotBeUsed(_ failure: String) async throws {
        let directory = TemporaryDirectory()
        var options = Self.options()
        options.connectTimeout = .seconds(10)
        let client = try await MCPClient.connect(
            Self.server(in: directory, atStart: "[ $starts = 2 ] && { \(failure); }"), options: options)
        _ = await clientError { _ = try await client.request("crash") }
        // A call waits for no longer than one attempt.
        while await clientError({ _ = try await Self.starts(client) }) != nil {}
        #expect(Self.lines("\(directory.path)/starts") >= 3)
        let pid = try Files.read("\(directory.path)/starts.pid", maxBytes: 100)
        #expect(try !exists(#require(Int32(String(decoding: pid, as: UTF8.self).trimmed))))
        await client.close()
    }

    /// Attempts count together until the program has run for a while.
    @Test func attemptsCountAnew() async throws {
        for (maximum, isBack) in [(Duration.nanoseconds(1), true), (.seconds(60), false)] {
            let directory = TemporaryDirectory()
            let client = try await MCPClient.connect(
                Self.server(in: directory),
                options: Self.options(2, initial: .nanoseconds(1), maximum: maximum))
            for _ in 0 ..< 3 {
                _ = await clientError { _ = try await client.request("crash") }
                _ = await clientError { _ = try await Self.starts(client) }
            }
            let error = await clientError { _ = try await Self.starts(client) }
            #expect((error == nil) == isBack, "\(String(describing: error))")
            await client.close()
        }
    }

    /// The program is there for a legacy conversation, then for a modern one: the era is found out anew.
    @Test func otherEraAfterwards() async throws {
        let directory = TemporaryDirectory()
        let opening = """
            *server/discover*) [ $starts = 1 ] && refuse -32601 || result '\(Script.discovered)';;
            *'"initialize"'*) [ $starts = 1 ] && result '\(Script.initialized())' || refuse -32601;;
            *notifications/initialized*) ;;
            """
        let client = try await MCPClient.connect(
            Self.server(in: directory, opening: opening), options: Self.options())
        #expect(client.protocolVersion == .v2025_11_25)
        _ = await clientError { _ = try await client.request("crash") }
        #expect(try await Self.starts(client) == 2)
        #expect(client.protocolVersion == .v2026_07_28)
        await client.close()
    }

    @Test func callsWaitInBoundedTime() async throws {
        let directory = TemporaryDirectory()
        var options = Self.options(initial: .seconds(60), maximum: .seconds(60))
        options.connectTimeout = .seconds(5)
        let client = try await MCPClient.connect(Self.server(in: directory), options: options)
        _ = await clientError { _ = try await client.request("crash") }
        let start = ContinuousClock.now
        let error = await clientError {
            _ = try await client.request("starts", options: CallOptions(deadline: .milliseconds(50)))
        }
        #expect(error?.kind == .connectionClosed)
        #expect(
            error?.message.contains("was not available again within") == true, "\(String(describing: error))")
        let cancelled = Task { await clientError { _ = try await client.request("starts") } }
        cancelled.cancel()
        #expect(await cancelled.value?.kind == .cancelled)
        #expect(ContinuousClock.now - start < .seconds(4))
        // The end of the client does not wait for the next start.
        let waiting = Task { await clientError { _ = try await client.request("starts") } }
        await client.close()
        #expect(await waiting.value?.kind == .connectionClosed)
        #expect(ContinuousClock.now - start < .seconds(10))
        #expect(Self.lines("\(directory.path)/starts") == 1)
    }

    @Test func closedWhileItStarts() async throws {
        for delay in [0, 1, 2, 5, 10, 20] {
            let directory = TemporaryDirectory()
            let client = try await MCPClient.connect(Self.server(in: directory), options: Self.options())
            _ = await clientError { _ = try await client.request("crash") }
            try await Task.sleep(for: .milliseconds(delay))
            await client.close()
            let count = Self.lines("\(directory.path)/starts")
            try await Task.sleep(for: .milliseconds(50))
            #expect(Self.lines("\(directory.path)/starts") <= max(count, 2))
        }
    }
}

private func descriptorCount() throws -> Int {
    try ProcessRunner.run(ProcessLaunch("ls", ["/proc/\(getpid())/fd"])).output.count { $0 == 0x0A }
}

private func exists(_ pid: Int32) -> Bool { (try? Files.info("/proc/\(pid)")) != nil }
