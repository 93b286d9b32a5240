import MCPCore
import TestSupport
import Testing

@testable import MCPServerDaemon

/// `state` of the configuration.
@Suite struct StateReaderTests {
    private static let secret = String(repeating: "k", count: 32)
    private static let other = String(repeating: "o", count: 40)

    private func load(_ state: String, mode: UInt32 = 0o600) throws -> ConfigurationLoader.Outcome {
        let directory = try TemporaryDirectory()
        try directory.write("a.key", Array((Self.secret + "\n").utf8), mode: mode)
        try directory.write("short", Array(Self.secret.dropLast().utf8), mode: 0o600)
        try directory.write("long", [UInt8](repeating: 0x6B, count: 4097), mode: 0o600)
        try directory.write("longest", [UInt8](repeating: 0x6B, count: 4096), mode: 0o600)
        return ConfigurationLoader(environment: ["PATH": "/usr/bin:/bin", "OTHER": Self.other]).load(
            SourceText(name: "mcp.jsonc", text: #"{"state": \#(state)}"#), directory: directory.path,
            Diagnostics())
    }

    private func findings(_ state: String, mode: UInt32 = 0o600) throws -> [String] {
        let outcome = try load(state, mode: mode)
        #expect(!outcome.diagnostics.report.contains { $0.contains(Self.secret) })
        return outcome.diagnostics.sorted.map(\.rendered)
    }

    @Test func keysAndStores() throws {
        #expect(
            try load(#"{"key": "${file:a.key}"}"#).configuration.state?.keys.map(\.value) == [
                Array(Self.secret.utf8)
            ])
        let outcome = try load(
            #"{"key": ["${env:OTHER}", "${file:a.key}"], "store": "redis://u@127.0.0.1/1", "password": "$env:OTHER"}"#
        )
        #expect(outcome.diagnostics.report == [])
        let state = try #require(outcome.configuration.state)
        #expect(state.keys.map(\.value) == [Array(Self.other.utf8), Array(Self.secret.utf8)])
        #expect(state.store?.address == "redis://u@127.0.0.1/1")
        #expect(state.store?.password?.value == Self.other)
        #expect(!"\(state)".contains(Self.other))
        #expect(try load(#"{"key": "${file:longest}"}"#).diagnostics.report == [])
    }

    @Test(arguments: [
        ("{}", #"1:11: error: state needs "key""#),
        (
            #"{"key": "kkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkk"}"#,
            "1:19: error: state.key must come from"
        ),
        (#"{"key": "x${file:a.key}"}"#, "1:19: error: state.key must come from a file or the environment"),
        (#"{"key": 7}"#, "1:19: error: state.key must be a string, not a number"),
        (#"{"key": []}"#, "1:19: error: state.key must be one secret, or 1 to 4"),
        (#"{"key": "${file:short}"}"#, "1:19: error: state.key must have 32 to 4096 bytes, not 31"),
        (#"{"key": "${file:long}"}"#, "1:19: error: state.key must have 32 to 4096 bytes, not 4097"),
        (#"{"key": "${file:none}"}"#, "1:19: error: ${file:none}: cannot open none"),
        (
            #"{"key": ["${file:a.key}", "${file:a.key}"]}"#,
            "1:37: error: state.key contains the same secret twice"
        ),
        (#"{"key": "${file:a.key}", "store": "redis+tls://h"}"#, "1:45: error: state.store must be redis://"),
        (
            #"{"key": "${file:a.key}", "store": "redis://u:p@h"}"#,
            "1:45: error: state.store contains a password"
        ),
        (#"{"key": "${file:a.key}", "store": "redis://u@h"}"#, "1:45: error: state.store names a user"),
        (
            #"{"key": "${file:a.key}", "store": "redis://10.0.0.1"}"#,
            "1:45: warning: state.store is on another"
        ),
        (
            #"{"key": "${file:a.key}", "password": "${env:OTHER}"}"#,
            "1:48: error: state.password is for a store"
        ),
        (
            #"{"key": "${file:a.key}", "store": "redis://h", "password": "p"}"#,
            "1:70: error: state.password must come from"
        ),
        (#"{"key": "${file:a.key}", "stroe": "x"}"#, #"1:36: error: unknown key "stroe" in state"#),
    ]) func mistakes(_ state: String, _ finding: String) throws {
        let findings = try findings(state)
        #expect(findings.contains { $0.hasPrefix("mcp.jsonc:\(finding)") }, "\(findings)")
    }

    @Test func lengthsAndNumbersOfKeys() throws {
        let keys = ["${file:a.key}", "${env:OTHER}", "${file:longest}", "1${env:OTHER}", "2${env:OTHER}"]
            .map { "\"\($0)\"" }
        func findings(_ count: Int) throws -> [String] {
            try self.findings(#"{"key": [\#(keys.prefix(count).joined(separator: ", "))]}"#)
        }
        #expect(try findings(3) == [])
        #expect(!(try findings(4).contains { $0.contains("1 to 4 of them") }))
        #expect(try findings(5).contains { $0.contains("1 to 4 of them") })
        #expect(try self.findings(#"{"key": "${file:short}"}"#).count == 1)
        #expect(try self.findings(#"{"key": "${file:long}"}"#).count == 1)
        #expect(try self.findings(#"{"key": "${file:none}"}"#).count == 1)
    }

    @Test func aKeyThatOthersMayReadIsRefused() throws {
        let findings = try findings(#"{"key": "${file:a.key}"}"#, mode: 0o640)
        #expect(findings.contains { $0.contains("may be read or written by users other than its owner") })
    }

    /// The tasks of other instances are served without a tool that has any, also after a reload.
    @Test func aStoreBringsTasks() async throws {
        let key = #"{"key": "${file:a.key}""#
        let store = key + #", "store": "redis://127.0.0.1:1"}"#
        func code(_ configuration: Configuration) async throws -> JSONValue? {
            let server = try ServerBuilder(configuration: configuration, log: .disabled).build().server
            let text =
                #"{"jsonrpc":"2.0","id":1,"method":"tasks/get","params":{"taskId":"x","_meta":"#
                + #"{"io.modelcontextprotocol/protocolVersion":"2026-07-28","#
                + #""io.modelcontextprotocol/clientCapabilities":"#
                + #"{"extensions":{"io.modelcontextprotocol/tasks":{}}}}}}"#
            let answer = try #require(await server.handle(Array(text.utf8)))
            return try JSONValue(parsing: answer)["error"]?["code"]
        }
        let (without, with) = (try load(key + "}").configuration, try load(store).configuration)
        #expect(try await code(without) == -32601)
        #expect(try await code(with) == -32602)
        let more = try load(store + #", "tools": {"a": {"exec": ["true"], "task": "optional"}}"#)
        #expect(more.diagnostics.report == [])
        let difference = ConfigurationDifference(with, more.configuration, started: with)
        #expect(difference.text == "+tool a" && difference.needingRestart == [])
    }

    /// What belongs to one channel is not valid at another, and each instance has the same keys.
    @Test func channelsHaveKeysOfTheirOwn() throws {
        let state = try #require(try load(#"{"key": ["${file:a.key}", "${env:OTHER}"]}"#).configuration.state)
        func keys(_ channel: String?) -> [[UInt8]] {
            var options = ServerOptions()
            state.use(in: &options, channel: channel)
            return [options.stateKey ?? []] + options.acceptedStateKeys
        }
        #expect(keys(nil) == [Array(Self.secret.utf8), Array(Self.other.utf8)])
        #expect(keys("a") == keys("a"))
        #expect(Set(keys("a") + keys("b") + keys("") + keys(nil)).count == 8)
    }

    @Test func aNewKeyNeedsARestart() throws {
        let old = try load(#"{"key": "${file:a.key}"}"#).configuration
        let new = try load(#"{"key": "${env:OTHER}"}"#).configuration
        #expect(ConfigurationDifference(old, old, started: old).needingRestart == [])
        #expect(ConfigurationDifference(old, new, started: old).needingRestart == ["state"])
    }
}
