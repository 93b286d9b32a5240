import MCPCore
import Testing

@testable import MCPClientCLI

struct SignatureTests {
    @Test func aToolReadsLikeADeclaration() throws {
        let tool = try Tool(
            json: try JSONValue(
                parsing: #"""
                    {"name":"git_log","inputSchema":{"type":"object","properties":{
                      "repo":{"type":"string","format":"path"},
                      "limit":{"type":"integer","minimum":1,"maximum":200,"default":20},
                      "author":{"type":"string","maxLength":80},
                      "paths":{"type":"array","items":{"type":"string"}}},"required":["repo"]},
                     "annotations":{"readOnlyHint":true}}
                    """#))
        #expect(
            Signature.tool(tool)
                == "git_log(repo: path, limit: int 1…200 = 20, author?: string, paths?: [string])")
        #expect(Signature.hint(tool) == "read-only")
    }

    @Test func promptsShowTheirArguments() {
        let prompt = Prompt(
            "review", arguments: [PromptArgument("code", required: true), PromptArgument("style")])
        #expect(Signature.prompt(prompt) == "review(code, style?)")
    }

    @Test func namesOfTheServerAreEscaped() {
        #expect(Signature.tool(Tool("a\u{1B}[2J\nb")) == "a\\e[2J\\nb()")
    }

    @Test func hints() {
        #expect(Signature.hint(Tool("t")) == nil)
        #expect(
            Signature.hint(Tool("t", annotations: ToolAnnotations(destructiveHint: true))) == "destructive")
        #expect(Signature.hint(Tool("t", annotations: ToolAnnotations(destructiveHint: false))) == nil)
    }
}
