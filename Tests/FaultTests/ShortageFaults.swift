import MCPCore
import TestSupport
import Testing

#if os(Linux)
#if canImport(Musl)
import Musl
#else
import Glibc
#endif

/// Fault rows 79, 92 and 93 at a real program: more of everything than there is.
@Suite("faults: shortages", .ownThreads) struct ShortageFaults {
    /// Fault row 93: connections at five times the capacity. Those beyond it are refused at once and told when
    /// to come again; those within it are served all the while.
    @Test func fiveTimesTheConnections() throws {
        let capacity = 8
        let daemon = try HTTPDaemon(["--set", "limits.connections=\(capacity)"])
        let admitted = try (0 ..< capacity).map { _ in try daemon.connect() }
        for connection in admitted { try connection.expectAlive() }
        let before = daemon.descriptorCount
        var slowest = (refusal: Duration.zero, answer: Duration.zero)
        let clock = ContinuousClock()
        for number in 0 ..< 4 * capacity {
            slowest.refusal = max(
                slowest.refusal,
                try clock.measure {
                    let excess = try daemon.connect()
                    let refusal = try excess.response()
                    #expect(refusal?.status == 503)
                    #expect(refusal?["retry-after"] == "1")
                    #expect(excess.closes())
                })
            slowest.answer = max(
                slowest.answer, try clock.measure { try admitted[number % capacity].expectAlive() })
        }
        // Milliseconds on an idle machine: neither waits for the other.
        #expect(slowest.refusal < .seconds(5) && slowest.answer < .seconds(5), "\(slowest)")
        #expect(daemon.descriptorCount == before)
        for connection in admitted { connection.close() }
        let deadline = Deadline(.seconds(20))
        while (try? daemon.ask(Post(Message.echo(id: "1", "x"), name: "echo")))?.status != 200 {
            try #require(!deadline.isOver, "nobody is served after the overload")
        }
    }

    /// Fault row 92: connections that say nothing, and those of a scan of ports, leave nothing behind.
    @Test func silentConnections() throws {
        let daemon = try HTTPDaemon()
        let served = try daemon.connect()
        try served.expectAlive()
        let before = try #require(daemon.descriptors)
        let idle = try (0 ..< 300).map { _ in try daemon.connect() }
        try served.expectAlive()
        for number in 0 ..< 1_000 {
            let scan = try daemon.connect()
            if number % 3 == 0 { try scan.send([0x16, 0x03]) }
            if number % 2 == 0 { try scan.reset() } else { scan.close() }
        }
        try served.expectAlive()
        for connection in idle { connection.close() }
        // Longer than a connection may be idle whose end was lost.
        let deadline = Deadline(.seconds(90))
        while daemon.descriptorCount != before.count {
            try #require(!deadline.isOver, "\(daemon.descriptors ?? []), before \(before)")
        }
        try served.expectAlive()
    }

    /// Peers that send bodies which never end, as long as the daemon lives.
    private static func flood(_ daemon: HTTPDaemon, _ count: Int) -> [WireConnection] {
        let size = 3 << 20
        let head = Array(
            ("POST /mcp HTTP/1.1\r\nHost: 127.0.0.1:\(daemon.port)\r\nContent-Type: application/json\r\n"
                + "Content-Length: \(size + 1)\r\n\r\n").utf8)
        let body = head + [UInt8](repeating: 0x20, count: size)
        var open: [WireConnection] = []
        for _ in 0 ..< count where daemon.isRunning {
            guard let peer = try? daemon.connect() else { break }
            try? peer.send(body, within: .seconds(10))
            open.append(peer)
        }
        return open
    }

    private static func limited(_ kibibytes: Int) -> [String] {
        ["sh", "-c", "ulimit -v \(kibibytes); exec \"$@\"", "sh"]
    }

    /// Fault row 79: with limits of our own below that of the system, what does not fit is refused.
    @Test func aLimitOfMemoryAboveOurOwn() throws {
        let daemon = try HTTPDaemon(["--set", "limits.memory=8MiB"], through: Self.limited(400_000))
        let served = try daemon.connect()
        try served.expectAlive()
        let open = Self.flood(daemon, 100)
        #expect(daemon.isRunning && open.count == 100, "\(daemon.errors)")
        // Those that fit wait for their last byte.
        let refused = open.count { (try? $0.response(within: .milliseconds(100)))??.status == 503 }
        #expect(refused > 50, "\(refused)")
        try served.expectAlive()
    }

    /// Fault row 79: memory that the system refuses ends the process by a signal, so that whoever started it
    /// sees that; the next one starts and serves.
    @Test func aLimitOfMemoryThatEndsTheProcess() throws {
        let daemon = try HTTPDaemon(["--set", "limits.memory=4GiB"], through: Self.limited(400_000))
        let served = try daemon.connect()
        try served.expectAlive()
        let open = Self.flood(daemon, 400)
        let deadline = Deadline(.seconds(20))
        while daemon.isRunning { try #require(!deadline.isOver, "\(open.count) bodies fit") }
        guard case .signaled(let number)? = daemon.end else {
            Issue.record("\(String(describing: daemon.end))")
            return
        }
        #expect([SIGILL, SIGTRAP, SIGABRT, SIGSEGV, SIGBUS].contains(number), "signal \(number)")
        // Peers are not left waiting.
        #expect(served.closes(within: .seconds(20)))
        let next = try HTTPDaemon(through: Self.limited(400_000))
        try next.expectAlive()
    }
}
#endif
