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

@Suite struct LogTests {
    private func lines(
        _ format: LogFormat, level: LogLevel = .info, _ body: (Log) -> Void
    ) throws -> String {
        let (reader, writer) = try Syscalls.pipe()
        let r = FileDescriptor(owning: reader)
        do {
            let clock = ManualClock(wallTime: WallTime(secondsSinceEpoch: 0))
            let sink = try LogSink(FileDescriptor(owning: writer), format: format, clock: clock)
            body(Log(level: level, sink: sink))
        }
        return try readAll(r.rawValue)
    }

    @Test func textLines() throws {
        let output = try lines(.text) { log in
            log.info("listening", ["address": "127.0.0.1:8080", "loops": 2, "name": "a b", "empty": ""])
            log.with(["connection": 7]).warning("slow")
        }
        #expect(
            output == """
                1970-01-01T00:00:00.000Z info listening address=127.0.0.1:8080 loops=2 name="a b" empty=""
                1970-01-01T00:00:00.000Z warning slow connection=7

                """)
    }

    @Test func jsonLines() throws {
        let output = try lines(.json) { $0.error("no", ["code": -32603, "ok": false, "why": "a\"b\n"]) }
        #expect(
            output
                == #"{"time":"1970-01-01T00:00:00.000Z","#
                + #""level":"error","event":"no","code":-32603,"ok":false,"why":"a\"b\n"}"#
                + "\n")
    }

    @Test func journalLines() throws {
        let output = try lines(.journal, level: .debug) { log in
            log.error("e")
            log.debug("d", ["x": 1])
        }
        #expect(output == "<3>e\n<7>d x=1\n")
    }

    // Fault row 110
    @Test(arguments: [
        ("a\r\nb", #"a\r\nb"#), ("\u{1B}[2J", #"\u{1b}[2J"#), ("\u{202E}evil", #"\u{202e}evil"#),
        ("\u{0}", #"\u{0}"#), ("\u{9B}m", #"\u{9b}m"#), ("\u{2028}", #"\u{2028}"#), ("é", "é"),
        ("\\n", #"\\n"#),
    ]) func peerTextCannotEndOrDisguiseALine(_ value: String, _ escaped: String) throws {
        let output = try lines(.journal) { $0.info("x", ["v": value]) }
        #expect(output == (value == "é" ? "<6>x v=é\n" : "<6>x v=\"\(escaped)\"\n"))
        #expect(try lines(.json) { $0.info("x", ["v": value]) }.utf8.filter { $0 < 0x20 } == [0x0A])
    }

    @Test func longLinesAreCut() throws {
        let long = String(repeating: "x", count: 1_000_000)
        for format in [LogFormat.text, .json, .journal] {
            let output = try lines(format) {
                $0.info("e", ["a": long, "b": long, "c": long, "d": long, "z": 1])
            }
            #expect(output.utf8.count <= LogLine.maxBytes)
            #expect(output.hasSuffix(format == .json ? ",\"truncated\":true}\n" : " truncated=true\n"))
        }
    }

    @Test func levelsThatAreOffComputeNothing() throws {
        let computed = Counter()
        func expensive() -> String {
            computed.increment()
            return "x"
        }
        let output = try lines(.text, level: .warning) { log in
            log.info("e", ["a": expensive()])
            log.debug("e", ["a": expensive(), "b": 1])
        }
        Log.disabled.error("e", ["a": expensive()])
        #expect(output.isEmpty && computed.value == 0)
    }

    // Fault row 78: nobody reads stderr
    @Test func blockedPipeDropsLinesAndCountsThem() throws {
        let (reader, writer) = try Syscalls.pipe()
        let r = FileDescriptor(owning: reader)
        let sink = try LogSink(FileDescriptor(owning: writer), format: .text)
        let log = Log(sink: sink)
        for number in 0 ..< 5_000 {
            log.info("line", ["number": number, "pad": String(repeating: "p", count: 100)])
        }
        #expect(sink.droppedLines > 0 && sink.droppedLines < 5_000)
        let before = sink.droppedLines
        _ = try readOnce(r.rawValue, 1 << 20)
        log.info("again")
        #expect(sink.droppedLines == before)
    }

    // Fault row 78: stderr is gone; row 77: the disk is full
    @Test func brokenSinkDropsLines() throws {
        SignalWatch.ignoreBrokenPipes()
        let (reader, writer) = try Syscalls.pipe()
        let sink = try LogSink(FileDescriptor(owning: writer), format: .text)
        Syscalls.close(reader)
        Log(sink: sink).info("lost")
        #expect(sink.droppedLines == 1)
        #if os(Linux)
        let full = try LogSink(try Syscalls.open("/dev/full", O_WRONLY), format: .text)
        Log(sink: full).info("lost")
        #expect(full.droppedLines == 1)
        #endif
    }

    @Test func filesAreAppendedTo() throws {
        let directory = TemporaryDirectory()
        let path = "\(directory.path)/log"
        for number in [1, 2] {
            Log(sink: try LogSink(path: path, format: .journal)).info("line", ["number": number])
        }
        #expect(text(try Files.read(path, maxBytes: 100)) == "<6>line number=1\n<6>line number=2\n")
        #expect(try Files.info(path).permissions == 0o600)
    }

    /// A file that cannot be opened again after its rotation is told of on standard error, once, and the end
    /// of that, too. What goes into a removed file is lost.
    @Test(arguments: ["directory", "link"]) func aFileThatCannotBeOpenedAgain(_ obstacle: String) throws {
        let directory = TemporaryDirectory()
        let path = "\(directory.path)/log"
        let (reader, writer) = try Syscalls.pipe()
        let errors = FileDescriptor(owning: reader)
        let told = Counter()
        let sink = try LogSink(
            path: path, fallback: try NonBlockingStream(FileDescriptor(owning: writer), for: .write),
            format: .journal
        ) { text in
            if text.hasPrefix("log failing") { told.increment() }
        }
        let log = Log(sink: sink)
        log.info("one")
        #expect(log.failure() == nil)
        #expect(unsafe rename(path, path + ".1") == 0)
        if obstacle == "link" {
            directory.link("log", to: "elsewhere")
        } else {
            directory.makeDirectory("log")
        }
        #expect(log.failure()?.contains("/log") == true)
        #expect(log.failure() != nil && told.value == 1)
        log.info("two")
        log.error("three")
        #expect(sink.droppedLines == 0)
        let lines = text(try #require(try readOnce(errors.rawValue))).split(separator: "\n")
        #expect(lines.count == 2 && lines[0].hasPrefix("<3>log failing error="), "\(lines)")
        #expect(lines.last == "<3>three")
        #expect(text(try Files.read(path + ".1", maxBytes: 100)) == "<6>one\n<6>two\n<3>three\n")
        // Told to open it, the failure is news.
        log.reopen()
        #expect(told.value == 2)
        #expect(unsafe unlink(path + ".1") == 0)
        log.info("four")
        #expect(sink.droppedLines == 1)
        #expect(unsafe remove(path) == 0)
        log.reopen()
        #expect(log.failure() == nil)
        log.info("five")
        #expect(text(try Files.read(path, maxBytes: 100)) == "<6>log recovered\n<6>five\n")
        let rest = text(try #require(try readOnce(errors.rawValue)))
        #expect(rest.hasPrefix("<3>log failing error=") && rest.hasSuffix("\n<6>log recovered\n"), "\(rest)")
    }

    // Fault row 105
    @Test func secretsPrintNothing() throws {
        let secret = Redacted("canary-token")
        var dumped = ""
        dump(secret, to: &dumped)
        let output = try lines(.json) { $0.info("e", ["text": "\(secret)", "token": secret]) }
        for text in [output, dumped, "\(secret)", String(reflecting: secret), "\([secret])"] {
            #expect(!text.contains("canary"))
        }
        #expect(secret.value == "canary-token" && secret == Redacted("canary-token"))
    }

    @Test func levelNames() {
        for level in LogLevel.allCases { #expect(LogLevel(name: level.name) == level) }
        #expect(LogLevel(name: "INFO") == nil)
        #expect(LogLevel.error < .debug)
    }
}
