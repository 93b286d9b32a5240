import MCPCore
import Testing

@testable import MCPServerDaemon

@Suite struct OverrideTests {
    private func load(_ text: String, _ sets: String...) -> ConfigurationLoader.Outcome {
        let loader = ConfigurationLoader(overrides: sets.compactMap(Override.init), environment: [:])
        return loader.load(SourceText(name: "c", text: text), directory: "/", Diagnostics())
    }

    @Test func replacesScalarsOfAnyType() {
        let outcome = load(
            #"{ "limits": { "body": "1MiB" } }"#, "limits.body=64MiB", "limits.connections=5",
            "limits.drain=3s",
            "server.name=x", "server.version=1.0")
        #expect(outcome.diagnostics.report == [])
        let configuration = outcome.configuration
        #expect(configuration.limits.body == 64 << 20)
        #expect(configuration.limits.connections == 5)
        #expect(configuration.limits.drain == .seconds(3))
        #expect(configuration.server.name == "x")
        #expect(configuration.server.version == "1.0")
    }

    @Test func reachesKeysWithDotsAndElements() {
        let outcome = load(
            #"{ "tools": { "a.b": { "exec": ["true", "x"] } }, "listen": ["127.0.0.1:1"] }"#,
            "tools.a.b.timeout=5s",
            "tools.a.b.exec.1=y", "tools.a.b.annotations.readOnlyHint=true", "listen.0=127.0.0.1:2")
        #expect(outcome.diagnostics.errorCount == 0, "\(outcome.diagnostics.report)")
        let tool = outcome.configuration.tools.first
        #expect(tool?.timeout == .seconds(5))
        #expect(tool?.annotations?.readOnlyHint == true)
        #expect(tool?.command.items == [.element(TemplateText(literal: "y"))])
        #expect(outcome.configuration.listen == [.tcp(host: "127.0.0.1", port: 2)])
    }

    @Test(arguments: [
        ("limts.body=1MiB", "--set limts.body=1MiB: error: unknown key \"limts\" (did you mean limits?)"),
        (
            "limits.bdy=1MiB",
            "--set limits.bdy=1MiB: error: unknown key \"bdy\" in limits (did you mean body?)"
        ),
        ("limits.body=1XiB", "--set limits.body=1XiB: error: limits.body must be a size like"),
        ("limits=1", "--set limits=1: error: limits is an object, and --set replaces only scalars"),
        ("listen.7=x", "--set listen.7=x: error: listen.7: the indices of the array are 0 to 0"),
        (
            "limits.connections=many",
            "--set limits.connections=many: error: limits.connections must be a whole number"
        ),
    ])
    func reportsMistakesWithTheOption(set: String, expected: String) {
        let report = load(#"{ "limits": { "body": "1MiB" }, "listen": ["127.0.0.1:1"] }"#, set).diagnostics
            .report
        #expect(report.first?.hasPrefix(expected) == true, "\(report)")
    }

    @Test(arguments: ["limits.body", "=x", "a..b=x", ""])
    func refusesTextThatIsNoAssignment(text: String) {
        #expect(Override(text) == nil)
    }
}
