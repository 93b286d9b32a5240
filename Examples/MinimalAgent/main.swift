// A model with a tool of this program:
//     example-minimal-agent
//     example-minimal-agent http://localhost:11434/v1 qwen3
import MCPCore
import MCPHarness

let roll = HostTool("roll", description: "Rolls a die.", inputSchema: ["type": "object"]) { _ in
    "The die shows \(Int.random(in: 1 ... 6))."
}

// Without an address, a script takes the part of the model: it calls the tool and repeats the result.
var model: any LanguageModel = ScriptedModel(
    .calls(("roll", "{}")),
    .events { request in
        guard case .toolResults(let results)? = request.messages.last else { return [] }
        return [.textDelta(results.map(\.text).joined())]
    })
if CommandLine.arguments.count > 2 {
    model = ChatCompletionsModel(CommandLine.arguments[1], model: CommandLine.arguments[2])
}

let harness = try ToolHarness(
    name: "Croupier", summary: "Rolls dice.", model: model, sources: [HostToolSource([roll])])
print(try await harness.send("Roll a die.").text)
