import Foundation
import MCPCore
import Synchronization
import TestSupport
import Testing

@testable import MCPClientCLI

/// Every row of the limits of docs/checks.md is what the code has, and every limit acts.
@Suite struct CheckLimitTests {
    @Test func thePageSaysWhatIsProven() throws {
        #expect(try LimitPage("checks").differences(in: "Limits", Self.proofs) == [])
    }

    @Test(arguments: proofs) func everyLimitActs(_ proof: LimitProof) async throws { try await proof.acts() }

    static let proofs = [
        LimitProof("lines of a recording", LimitText.grouped(Recording.maxLines), lines),
        LimitProof("message in a recording", LimitText.bytes(ExchangeLog.maxMessageBytes), message),
        LimitProof(
            "requests of a tap that wait for their responses", LimitText.grouped(ExchangeLog.maxWaiting),
            waiting),
        LimitProof("line of a program behind a tap", LimitText.bytes(LineRelay.maxLineBytes), line),
        LimitProof("lock file", LimitText.bytes(LockFile.maxBytes), lockFile),
        LimitProof("tests in a file", LimitText.grouped(TestFile.maxTests), tests),
        LimitProof("steps of the check of a default", LimitText.grouped(LintRules.maxSteps), defaults),
        LimitProof("pause that a server asks for", "\(Retry.maxPause.components.seconds) s", pause),
    ]

    /// A check that was stopped finds nothing, and many of them are cheap.
    @Sendable private static func defaults() async throws {
        func findings(_ length: Int) -> [LintFinding] {
            let text = String(repeating: "a", count: length)
            let schema: JSONValue = ["type": "string", "pattern": "(a?){100}b$", "default": .string(text)]
            let members = (0 ..< 100).map { (key: "p\($0)", value: schema) }
            var snapshot = ServerSnapshot()
            snapshot.definitions[.tools] = [
                "t": ["inputSchema": ["type": "object", "properties": .object(JSONObject(members))]]
            ]
            return LintRules.findings(in: snapshot).filter { $0.rule == "default-invalid" }
        }
        #expect(findings(10).count == 100)
        #expect(findings(LintRules.maxSteps / 10).isEmpty)
        #expect(findings(LintRules.maxSteps).isEmpty)
    }

    private static func isRefused(_ work: () throws -> Void) -> Bool {
        do { try work() } catch { return true }
        return false
    }

    @Sendable private static func lines() async throws {
        let one = Array("{\"time\":\"\",\"method\":\"\",\"request\":{}}\n".utf8)
        let full = [UInt8](Array(repeating: one, count: Recording.maxLines).joined())
        #expect(!isRefused { _ = try Recording(full, name: "r") })
        #expect(isRefused { _ = try Recording(full + one, name: "r") })
    }

    private final class Lines: Sendable {
        let all = Mutex<[[UInt8]]>([])
        func add(_ line: [UInt8]) { all.withLock { $0.append(line) } }
    }

    @Sendable private static func message() async throws {
        for (excess, isKept) in [(0, true), (1, false)] {
            let lines = Lines()
            let log = ExchangeLog(mask: MessageMask()) { lines.add($0) }
            let frame = #"{"id":1,"method":"m","params":""}"#
            let text = String(repeating: "x", count: ExchangeLog.maxMessageBytes - frame.utf8.count + excess)
            log.note(try RawJSON(validating: #"{"id":1,"method":"m","params":"\#(text)"}"#), from: .client)
            log.finish()
            let count = lines.all.withLock { $0.first?.count ?? 0 }
            #expect((count > ExchangeLog.maxMessageBytes) == isKept)
        }
    }

    @Sendable private static func waiting() async throws {
        let lines = Lines()
        let log = ExchangeLog(mask: MessageMask()) { lines.add($0) }
        for id in 0 ... ExchangeLog.maxWaiting {
            #expect(lines.all.withLock { $0.isEmpty })
            log.note(try RawJSON(validating: #"{"id":\#(id),"method":"m"}"#), from: .client)
        }
        #expect(lines.all.withLock { $0.count } == 1)
    }

    /// Beyond a smaller limit, which is the same code.
    @Sendable private static func line() async throws {
        for (count, isWhole) in [(1 << 16, true), (1 << 18, false)] {
            let folder = TemporaryDirectory()
            try folder.write("line", String(repeating: "x", count: count))
            let file = try FileHandle(forReadingFrom: URL(fileURLWithPath: folder.path + "/line"))
            let isRead = await LineRelay.read(file.fileDescriptor, atMost: 1 << 17) { _ in true }
            try file.close()
            #expect(isRead == isWhole)
        }
    }

    @Sendable private static func lockFile() async throws {
        let folder = TemporaryDirectory()
        let lock = #"{"lockVersion":1,"servers":{}}"#
        for (excess, fits) in [(0, true), (1, false)] {
            let blank = String(repeating: " ", count: LockFile.maxBytes - lock.utf8.count + excess)
            try folder.write("mcp.lock", lock + blank)
            #expect(isRefused { _ = try LockFile(at: folder.path + "/mcp.lock") } != fits)
        }
    }

    @Sendable private static func tests() async throws {
        for (excess, fits) in [(0, true), (1, false)] {
            let list = Array(repeating: #"{"read":"x"}"#, count: TestFile.maxTests + excess)
            let text = #"{"tests":[\#(list.joined(separator: ","))]}"#
            #expect(isRefused { _ = try TestFile(SourceText(name: "t", bytes: Array(text.utf8))) } != fits)
        }
    }

    @Sendable private static func pause() async throws {
        let midnight = WallTime(secondsSinceEpoch: 784_080_000)  // 1994-11-06T00:00:00Z
        for (value, seconds) in [
            ("60", 60), ("61", nil), ("0", 0), ("99999999999999999999", nil),
            ("Sun, 06 Nov 1994 00:01:00 GMT", 60), ("Sun, 06 Nov 1994 00:01:01 GMT", nil),
            ("Sat, 05 Nov 1994 23:00:00 GMT", 0),
        ] as [(String, Int?)] {
            let asked = try #require(RetryAfter(value, now: midnight))
            #expect(Retry.pause(0, asked: asked) == seconds.map { Duration.seconds($0) }, "\(value)")
        }
        // What is none leaves the pause to the client.
        for value in ["-1", "", "soon", "+5", "1.5", "Sun, 06 Nov"] {
            #expect(RetryAfter(value, now: midnight) == nil, "\(value)")
        }
        #expect(Retry.pause(0, asked: nil) != nil)
    }
}
