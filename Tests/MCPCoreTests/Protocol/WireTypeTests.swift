import Testing

@testable import MCPCore

/// What each type looks like in each revision, and that it comes back as it was.
@Suite struct WireTypeTests {
    private static func written(_ value: some RevisionedWireType, _ version: String) throws -> JSONValue {
        var writer = JSONWriter()
        value.write(to: &writer, for: try #require(Revision.named(version)))
        return try JSONValue(parsing: String(writer.finish()))
    }

    private static func keys(_ value: some RevisionedWireType, _ version: String) throws -> Set<String> {
        Set(try written(value, version).objectValue?.map(\.key) ?? [])
    }

    private static func roundTrip<T: RevisionedWireType>(_ value: T) throws {
        #expect(try T(json: value.json) == value)
        // Codable is the same text.
        #expect(try JSONValue(encoding: value) == value.json)
        #expect(try value.json.decode(T.self) == value)
    }

    private static let icon = Icon("https://h/i.png", mimeType: "image/png", sizes: ["48x48"], theme: "light")
    private static let meta: JSONObject = ["com.example/k": [1, .null]]
    private static let notes = Annotations(
        audience: [.user, .assistant], priority: 0.5, lastModified: "2026-01-01T00:00:00Z")

    private static let tool = Tool(
        "t", title: "T", description: "d", inputSchema: ["type": "object"], outputSchema: ["type": "object"],
        annotations: ToolAnnotations(
            title: "AT", readOnlyHint: true, destructiveHint: false, idempotentHint: true,
            openWorldHint: false),
        icons: [icon], meta: meta)
    private static let resource = Resource(
        "file:///a", name: "a", title: "A", description: "d", mimeType: "text/plain", size: 12,
        annotations: notes,
        icons: [icon], meta: meta)

    /// A number beyond Double is refused, and none that JSON lacks is written.
    @Test func numbersThatJSONLacks() throws {
        for text in ["1e400", "-1e400", "1e9223372036854775808"] {
            let number = try JSONValue(parsing: text)
            let error = #expect(throws: JSONError.self) { try Annotations(json: ["priority": number]) }
            #expect(error?.path == "/priority")
            let content: JSONValue = [
                ["type": "text", "text": "x", "annotations": ["priority": number]]
            ]
            #expect(throws: JSONError.self) { try CallToolResult(json: ["content": content]) }
            #expect(throws: JSONError.self) { try ModelPreferences(json: ["speedPriority": number]) }
            #expect(
                throws: JSONError.self
            ) { try CreateMessageRequest(json: ["messages": [], "maxTokens": 1, "temperature": number]) }
            #expect(ProgressReport(params: RawJSON(["progress": number])) == nil)
            #expect(ProgressReport(params: RawJSON(["progress": 1, "total": number]))?.total == nil)
        }
        for value in [Double.infinity, -.infinity, .nan] {
            #expect(Annotations(priority: value).json == [:])
            #expect(ModelPreferences(costPriority: value, speedPriority: 1).json == ["speedPriority": 1])
            var request = CreateMessageRequest("q", maxTokens: 1)
            request.temperature = value
            #expect(request.json["temperature"] == nil)
            #expect(ProgressReport(value, total: value).fraction == nil)
        }
    }

    /// An embedded resource without one is no block, rather than one without an address.
    @Test func embeddedResourceIsRequired() throws {
        #expect(throws: JSONError.self) { try ContentBlock(json: ["type": "resource"]) }
        #expect(throws: JSONError.self) { try ContentBlock(json: ["type": "resource", "resource": [:]]) }
        #expect(throws: JSONError.self) { try ContentBlock(json: ["type": "resource", "resource": .null]) }
    }

    // TOOL-05, META-18, META-20, EXT-05
    @Test func tools() throws {
        try Self.roundTrip(Self.tool)
        let base: Set = ["name", "description", "inputSchema"]
        let structured = base.union(["annotations", "title", "outputSchema", "_meta"])
        #expect(try Self.keys(Self.tool, "2024-11-05") == base)
        #expect(try Self.keys(Self.tool, "2025-03-26") == base.union(["annotations"]))
        #expect(try Self.keys(Self.tool, "2025-06-18") == structured)
        #expect(try Self.keys(Self.tool, "2025-11-25") == structured.union(["icons"]))
        #expect(try Self.keys(Self.tool, "2026-07-28") == structured.union(["icons"]))
        try Self.roundTrip(Tool("plain"))
        #expect(Tool("plain").json["inputSchema"] == ["type": "object", "additionalProperties": false])
    }

    // TOOL-06: before 2026-07-28 an output schema describes an object.
    @Test(arguments: [
        ("2025-03-26", false, false), ("2025-06-18", true, false), ("2025-11-25", true, false),
        ("2026-07-28", true, true),
    ]) func outputSchemas(_ version: String, _ ofAnObject: Bool, _ ofAnArray: Bool) throws {
        let array = Tool("t", outputSchema: ["type": "array"])
        #expect(try Self.keys(Self.tool, version).contains("outputSchema") == ofAnObject)
        #expect(try Self.keys(array, version).contains("outputSchema") == ofAnArray)
    }

    // META-24
    @Test func displayNames() {
        var tool = Self.tool
        #expect(tool.displayName == "T")
        tool.title = nil
        #expect(tool.displayName == "AT")
        tool.annotations = nil
        #expect(tool.displayName == "t")
    }

    // RES-03, RES-10
    @Test func resources() throws {
        try Self.roundTrip(Self.resource)
        let base: Set = ["uri", "name", "description", "mimeType", "size", "annotations"]
        #expect(try Self.keys(Self.resource, "2024-11-05") == base)
        #expect(try Self.keys(Self.resource, "2025-06-18") == base.union(["title", "_meta"]))
        #expect(try Self.keys(Self.resource, "2025-11-25") == base.union(["title", "_meta", "icons"]))
        let template = ResourceTemplate(
            "file:///{p}", name: "n", title: "T", description: "d", mimeType: "m/m", annotations: Self.notes,
            icons: [Self.icon], meta: Self.meta)
        try Self.roundTrip(template)
        #expect(
            try Self.keys(template, "2025-03-26") == [
                "uriTemplate", "name", "description", "mimeType", "annotations",
            ])
        #expect(try Self.keys(template, "2026-07-28").isSuperset(of: ["title", "icons", "_meta"]))
    }

    // TOOL-30
    @Test func annotations() throws {
        try Self.roundTrip(Self.notes)
        #expect(try Self.keys(Self.notes, "2025-03-26") == ["audience", "priority"])
        #expect(try Self.keys(Self.notes, "2025-06-18") == ["audience", "priority", "lastModified"])
        #expect(Annotations().json == [:])
    }

    // RES-04, TOOL-29
    @Test func contents() throws {
        let text = ResourceContents.text("hé", uri: "a:b")
        let blob = ResourceContents.blob([0, 255], uri: "a:c")
        try Self.roundTrip(text)
        try Self.roundTrip(blob)
        #expect(text.json == ["uri": "a:b", "mimeType": "text/plain", "text": "hé"])
        #expect(blob.json == ["uri": "a:c", "mimeType": "application/octet-stream", "blob": "AP8="])
        #expect(text.bytes == Array("hé".utf8))
        #expect(blob.bytes == [0, 255])
        #expect(ResourceContents(uri: "a:d", blob: "%").bytes == nil)
    }

    // PROM-03, PROM-05
    @Test func prompts() throws {
        let prompt = Prompt(
            "p", title: "P", description: "d",
            arguments: [
                PromptArgument("a", title: "A", description: "x", required: true), PromptArgument("b"),
            ],
            icons: [Self.icon], meta: Self.meta)
        try Self.roundTrip(prompt)
        #expect(
            try Self.written(prompt, "2024-11-05") == [
                "name": "p", "description": "d",
                "arguments": [["name": "a", "description": "x", "required": true], ["name": "b"]],
            ])
        #expect(
            try Self.keys(prompt, "2026-07-28") == [
                "name", "title", "description", "arguments", "icons", "_meta",
            ])
        let result = GetPromptResult(
            [.user("hi"), PromptMessage(.assistant, .image([1], mimeType: "image/png"))], description: "d",
            meta: Self.meta)
        try Self.roundTrip(result)
    }

    @Test func implementations() throws {
        let whole = Implementation(
            name: "n", version: "1", title: "T", description: "d", websiteURL: "https://h", icons: [Self.icon]
        )
        try Self.roundTrip(whole)
        #expect(try Self.keys(whole, "2025-03-26") == ["name", "version"])
        #expect(try Self.keys(whole, "2025-06-18") == ["name", "version", "title"])
        #expect(
            try Self.keys(whole, "2025-11-25")
                == ["name", "version", "title", "description", "websiteUrl", "icons"])
    }

    // MARK: Content

    // TOOL-26, TOOL-29, PROM-10
    @Test func blocks() throws {
        var unknown = ContentBlock(type: .init(rawValue: "hologram"))
        unknown.unknown = ["type": "hologram", "depth": 3]
        var annotated = ContentBlock.text("x", annotations: Self.notes)
        annotated.meta = Self.meta
        let blocks: [ContentBlock] = [
            .text("t"), annotated, .image([1, 2], mimeType: "image/png"), .audio([3], mimeType: "audio/wav"),
            .resourceLink(Self.resource), .resource(.text("x", uri: "a:b")), unknown,
        ]
        for block in blocks {
            #expect(try ContentBlock(json: block.json).json == block.json)
            #expect(try JSONValue(encoding: block) == block.json)
        }
        #expect(blocks[2].decodedData == [1, 2])
        #expect(blocks[6].json == ["type": "hologram", "depth": 3])
    }

    /// What an older client does not know is said in words.
    @Test func blocksOfOlderRevisions() throws {
        let audio = ContentBlock.audio([3], mimeType: "audio/wav")
        #expect(try Self.written(audio, "2024-11-05") == ["type": "text", "text": "[audio, audio/wav]"])
        #expect(try Self.written(audio, "2025-03-26")["type"] == "audio")
        let link = ContentBlock.resourceLink(Self.resource)
        #expect(try Self.written(link, "2025-03-26") == ["type": "text", "text": "file:///a"])
        #expect(try Self.written(link, "2025-06-18")["type"] == "resource_link")
        var block = ContentBlock.text("x")
        block.meta = Self.meta
        #expect(try Self.keys(block, "2025-03-26") == ["type", "text"])
        #expect(try Self.keys(block, "2025-06-18") == ["type", "text", "_meta"])
    }

    // TOOL-11, TOOL-13: absent and null are different things.
    @Test func toolResults() throws {
        let null = CallToolResult(content: [.text("null")], structuredContent: .null)
        try Self.roundTrip(null)
        try Self.roundTrip(CallToolResult.text("x"))
        #expect(null.json["structuredContent"] == JSONValue.null)
        #expect(CallToolResult.text("x").json["structuredContent"] == Optional<JSONValue>.none)
        #expect(try CallToolResult(json: ["content": []]).structuredContent == Optional<JSONValue>.none)
        #expect(
            try CallToolResult(json: ["content": [], "structuredContent": .null]).structuredContent
                == JSONValue.null)
        #expect(CallToolResult(content: [.text("a"), .image([1], mimeType: "m"), .text("b")]).text == "a\nb")
    }

    // MARK: Reading

    // JRPC-23
    @Test func unknownMembersAreIgnored() throws {
        let tool = try Tool(json: [
            "name": "t", "inputSchema": ["type": "object"], "execution": ["taskSupport": "x"],
        ])
        #expect(tool.name == "t")
    }

    @Test(arguments: [
        (#"[]"#, ""), ("{}", ""), (#"{"name":5}"#, "/name"), (#"{"name":"t","title":[]}"#, "/title"),
        (#"{"name":"t","annotations":5}"#, "/annotations"), (#"{"name":"t","icons":{}}"#, "/icons"),
        (#"{"name":"t","icons":[{"src":"a"},{"src":1}]}"#, "/icons/1/src"),
        (#"{"name":"t","icons":[{"src":"a","sizes":[1]}]}"#, "/icons/0/sizes"),
        (#"{"name":"t","_meta":[]}"#, "/_meta"),
    ]) func errorsNameThePlace(_ text: String, _ path: String) throws {
        let json = try JSONValue(parsing: text)
        let error = #expect(throws: JSONError.self) { try Tool(json: json) }
        #expect(error?.path == path)
    }

    // CAP-03
    @Test func openCapabilities() throws {
        let server = try ServerCapabilities(json: ["tools": ["listChanged": true], "com.example/x": [:]])
        #expect(server.hasTools)
        let others = [server.hasResources, server.hasPrompts, server.hasLogging, server.hasCompletions]
        #expect(others.allSatisfy { !$0 })
        #expect(server.json["com.example/x"] == [:])
        #expect(throws: JSONError.self) { try ServerCapabilities(json: []) }
        #expect(throws: JSONError.self) { try ClientCapabilities(json: "x") }
    }
}
