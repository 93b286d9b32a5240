import MCPCore

/// Wire types: each reads what it writes, and writes it again alike.
enum TypesTarget {
    /// What is written is the value that was read.
    private static let exact: [any WireType.Type] = [
        Tool.self, Resource.self, ResourceTemplate.self, Prompt.self, LogMessage.self, Implementation.self,
        ClientCapabilities.self, ServerCapabilities.self, ElicitRequest.self, ElicitResult.self,
        ElicitationSchema.self, CompletionReference.self, CompletionResult.self, TaskInfo.self,
        SubscriptionFilter.self, Root.self, Annotations.self,
    ]
    /// Contents of resources with neither a text nor a blob, or with both, are read, but not written.
    private static let tolerant: [any WireType.Type] = [
        CallToolResult.self, ContentBlock.self, GetPromptResult.self, CreateMessageRequest.self,
        CreateMessageResult.self,
    ]

    static func check(_ input: [UInt8]) throws {
        guard let json = try? JSONValue(parsing: input) else { return }
        for type in exact { try check(type, json, isExact: true) }
        for type in tolerant { try check(type, json, isExact: false) }
    }

    private static func check<T: WireType>(_ type: T.Type, _ json: JSONValue, isExact: Bool) throws {
        guard let value = try? T(json: json) else { return }
        let written = value.json
        guard let again = try? T(json: written) else {
            throw Finding(description: "\(type) cannot read \(written.serialized())")
        }
        try require(again.json == written, "\(type) changes \(written.serialized())")
        if isExact { try require(again == value, "\(type) is another value: \(written.serialized())") }
        let coded = try RawJSON(encoding: value)
        try require(coded.value == written, "\(type) as Codable is \(coded.value.serialized())")
    }
}
