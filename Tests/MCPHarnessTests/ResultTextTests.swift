import MCPCore
import MCPHarness
import TestSupport
import Testing

/// What a model that reads text gets of a result.
@Suite(.timeLimit(.minutes(5))) struct ResultTextTests {
    private func read(
        _ content: [ContentBlock], structured: JSONValue? = nil, limit: Int = 100_000
    ) async throws -> ModelToolResult {
        var result = CallToolResult(content: content)
        result.structuredContent = structured
        let output = ToolOutput(result)
        let tool = HostTool("t", description: "", inputSchema: ["type": "object"]) { _ in output }
        var limits = HarnessLimits()
        limits.maxResultBytes = limit
        let harness = try HarnessFixture().harness(
            ScriptedModel(.calls(("t", "{}")), .text("done")), [tool], limits: limits)
        _ = try await harness.send("go")
        guard case .toolResults(let read) = await harness.transcript[2] else { throw NothingThere() }
        return try #require(read.first)
    }

    @Test func nothingVanishes() async throws {
        let bytes = [UInt8](repeating: 7, count: 3_000)
        let text = try await read([
            .text("one"), .image(bytes, mimeType: "image/png"), .audio([1, 2, 3], mimeType: "audio/wav"),
            .resource(.text("inside", uri: "file:///a")),
            .resource(.blob(bytes, uri: "file:///b", mimeType: "application/pdf")),
            .resourceLink(Resource("file:///x", name: "x")),
        ]).text
        #expect(
            text.split(separator: "\n") == [
                "one", "[image image/png, 3 kB, not shown]", "[audio audio/wav, 3 bytes, not shown]",
                "inside",
                "[resource file:///b application/pdf, 3 kB, not shown]", "[link file:///x]",
            ])
    }

    @Test func structuredContentStandsInForText() async throws {
        let image = ContentBlock.image([1, 2, 3], mimeType: "image/png")
        #expect(try await read([], structured: ["n": 1]).text == #"{"n":1}"#)
        #expect(try await read([.text("")], structured: ["n": 1]).text == #"{"n":1}"# + "\n")
        #expect(
            try await read([image], structured: ["n": 1]).text
                == #"{"n":1}"# + "\n[image image/png, 3 bytes, not shown]")
        #expect(try await read([.text("one"), image], structured: ["n": 1]).text.hasPrefix("one\n[image"))
        #expect(
            try await read([.resource(.text("in", uri: "file:///a"))], structured: ["n": 1]).text == "in")
    }

    /// The first block takes exactly what there is: of the second not even its line break fits.
    @Test func nothingIsLeft() async throws {
        let text = try await read([.text(String(repeating: "x", count: 100)), .text("more")], limit: 100).text
        #expect(text.hasPrefix(String(repeating: "x", count: 100) + "\n[cut: a part of 4 bytes"))
    }

    @Test func emptyBlocksCount() async throws {
        let many = try await read(Array(repeating: .text(""), count: 400), limit: 100)
        #expect(many.text.utf8.count < 200)
        #expect(many.text.contains("[cut: a part of 0 bytes and 298 more did not fit into 100 bytes]"))
    }

    @Test func linksAndForeignBlocksCount() async throws {
        var link = Resource("file:///x", name: "x")
        link.description = String(repeating: "y", count: 10_000)
        let read = try await read([.resourceLink(link), .text("after")], limit: 1_000)
        #expect(read.content.map(\.type) == [.text, .text])
        #expect(read.text == "[link file:///x]\nafter")
    }

    @Test func whatFitsExactlyStays() async throws {
        let text = String(repeating: "x", count: 100)
        #expect(try await read([.text(text)], limit: 100).text == text)
        let half = String(repeating: "x", count: 50)
        #expect(try await read([.text(half), .text(half)], limit: 101).text == half + "\n" + half)
        #expect(try await read([.text(half), .text(half)], limit: 100).text.contains("[cut"))
    }

    /// A large image does not take the text behind it away.
    @Test func largeImagesAreNamed() async throws {
        let image = ContentBlock.image([UInt8](repeating: 7, count: 300_000), mimeType: "image/png")
        #expect(
            try await read([image, .text("a cat")]).text == "[image image/png, 300 kB, not shown]\na cat")
    }
}
