import MCPCore
import Testing

@testable import MCPClientCLI

/// What `tap --only` lets through: nothing that a reader could understand as the call of another tool.
@Suite struct ToolFilterTests {
    private func passes(_ line: String) -> Bool {
        if case .pass = ToolFilter(["good"]).check(Array(line.utf8)) { true } else { false }
    }

    @Test(arguments: [
        #"{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"good","arguments":{"Name":"x"}}}"#,
        #"{"jsonrpc":"2.0","id":1,"method":"tools/list","params":{"cursor":"a"}}"#,
        #"{"jsonrpc":"2.0","method":"notifications/initialized"}"#,
    ])
    func whatIsClear(line: String) { #expect(passes(line)) }

    @Test(arguments: [
        #"{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"bad"}}"#,
        #"{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"good","Name":"bad"}}"#,
        #"{"jsonrpc":"2.0","id":1,"method":"ping","Method":"tools/call","params":{"name":"bad"}}"#,
        #"{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"good"},"Params":{"name":"bad"}}"#,
        #"{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"good","name":"bad"}}"#,
        #"[{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"good"}}]"#,
    ])
    func whatMayMeanAnotherTool(line: String) { #expect(!passes(line)) }
}
