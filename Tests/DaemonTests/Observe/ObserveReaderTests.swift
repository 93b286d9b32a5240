import MCPCore
import Testing

@testable import MCPServerDaemon

/// `admin` and `observe` of the configuration.
@Suite struct ObserveReaderTests {
    private func load(_ text: String) -> ConfigurationLoader.Outcome {
        ConfigurationLoader(environment: [:]).load(
            SourceText(name: "c", text: text), directory: "/srv", Diagnostics())
    }

    @Test func everyKey() {
        let outcome = load(
            """
            { "admin": { "listen": "unix:///srv/a.sock" },
              "observe": {
                "log": { "level": "debug", "format": "json", "file": "s.log", "calls": "failed" },
                "audit": { "file": "/a.jsonl", "arguments": "none", "redact": ["pin"], "chain": true },
                "recorder": { "dir": "flight", "keep": 5, "dumpOn": ["SIGUSR1"] } } }
            """)
        #expect(
            outcome.diagnostics.report == [
                "c:5:26: warning: observe.recorder.dir: /srv/flight does not exist; nothing can be recorded "
                    + "until it exists", "1 warning",
            ])
        let observe = outcome.configuration.observe
        #expect(outcome.configuration.admin?.listen?.shown == "unix:///srv/a.sock")
        #expect(observe.log == LogSettings(level: .debug, format: .json, file: "/srv/s.log", calls: .failed))
        #expect(observe.audit?.file == "/a.jsonl" && observe.audit?.isChained == true)
        #expect(observe.audit?.redaction == RedactionSettings(arguments: .none, keys: ["pin"]))
        #expect(observe.recorder?.directory == "/srv/flight" && observe.recorder?.keep == 5)
        #expect(observe.recorder?.triggers == [.signal])
        #expect(load("{}").configuration.observe == ObserveSettings())
    }

    @Test(arguments: [
        (#"{"admin": {"listen": "0.0.0.0:1"}}"#, "c:1:22: error: admin.listen: 0.0.0.0:1 can be reached"),
        (#"{"admin": {"listen": "127.0.0.1:0"}}"#, "c:1:22: error: admin.listen: 127.0.0.1:0 has no usable"),
        (
            #"{"listen": ["127.0.0.1:7"], "admin": {"listen": "127.0.0.1:7"}}"#,
            "c:1:49: error: admin.listen is also in listen"
        ),
        (
            #"{"admin": {"lisen": "x"}}"#,
            "c:1:12: error: unknown key \"lisen\" in admin (did you mean listen?)"
        ),
        (
            #"{"observe": {"log": {"calls": "fail"}}}"#,
            #"c:1:31: error: observe.log.calls must be one of "none", "failed", "all""#
        ),
        (
            #"{"observe": {"log": {"level": "inf"}}}"#,
            #"c:1:31: error: observe.log.level must be one of "error", "warning", "info", "debug""#
        ),
        (#"{"observe": {"audit": {}}}"#, "c:1:23: error: observe.audit needs a file"),
        (
            #"{"observe": {"audit": {"file": "a", "chain": 1}}}"#,
            "c:1:46: error: observe.audit.chain must be true or false, not a number"
        ),
        (
            #"{"observe": {"audit": {"file": "a", "redact": [""]}}}"#,
            "c:1:47: error: observe.audit.redact contains an empty pattern"
        ),
        (
            #"{"observe": {"log": {"file": "a"}, "audit": {"file": "a"}}}"#,
            "c:1:54: error: observe.log.file and observe.audit.file are the same file"
        ),
        (
            #"{"observe": {"log": {"file": "/tmp/a"}, "audit": {"file": "/tmp/./../tmp//a"}}}"#,
            "c:1:59: error: observe.log.file and observe.audit.file are the same file"
        ),
        (#"{"observe": {"recorder": {}}}"#, "c:1:26: error: observe.recorder needs a dir"),
        (
            #"{"observe": {"recorder": {"dir": "d", "keep": 0}}}"#,
            "c:1:47: error: observe.recorder.keep must be a whole number from 1 to 10000"
        ),
        (
            #"{"observe": {"recorder": {"dir": "d", "dumpOn": ["USR1"]}}}"#,
            #"c:1:49: error: observe.recorder.dumpOn may contain "error" and "SIGUSR1", not "USR1""#
        ),
    ])
    func mistakes(_ text: String, _ wanted: String) {
        let report = load(text).diagnostics.report
        #expect(report.contains { $0.hasPrefix(wanted) }, "\(report)")
    }
}
