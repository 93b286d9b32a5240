@testable import MCPCore

/// The inputs of the benchmarks.
enum Samples {
    static let meta = """
        "_meta":{"io.modelcontextprotocol/protocolVersion":"2026-07-28",\
        "io.modelcontextprotocol/clientCapabilities":{}}
        """
    /// A tools/call of 2026-07-28, 241 bytes.
    static let call = ByteSlice(
        #"{"jsonrpc":"2.0","id":123,"method":"tools/call","params":{"name":"echo","arguments":{"text":"hello world, how are you to"},"#
            + meta + "}}")
    static let schema: JSONValue = [
        "type": "object",
        "properties": [
            "city": ["type": "string", "minLength": 1],
            "days": ["type": "integer", "minimum": 1, "maximum": 7],
            "unit": ["enum": ["celsius", "fahrenheit"]],
        ],
        "required": ["city"], "additionalProperties": false,
    ]
    static let arguments = #"{"city":"Bern","days":3,"unit":"celsius"}"#

    struct Question: Codable, Sendable {
        var city: String
        var days: Int?
        var unit: String?
    }

    /// A tools/list of 1,500 tools, about 0.8 MB.
    static let tools: ByteSlice = {
        var writer = JSONWriter()
        writer.beginObject()
        writer.key("tools")
        writer.beginArray()
        for number in 0 ..< 1500 {
            writer.value([
                "name": .string("tool_number_\(number)"), "title": .string("Tool number \(number)"),
                "description": .string(
                    "What the tool with the number \(number) does: \"quoted\", and more text."),
                "inputSchema": [
                    "type": "object",
                    "properties": [
                        "path": ["type": "string", "description": "Where to look"],
                        "limit": [
                            "type": "integer", "minimum": 1, "maximum": JSONValue(number + 1), "default": 20,
                        ],
                        "deep": ["type": "boolean"],
                    ],
                    "required": ["path"], "additionalProperties": false,
                ],
                "annotations": ["readOnlyHint": true, "openWorldHint": false],
            ])
        }
        writer.endArray()
        writer.endObject()
        return writer.finish()
    }()

    static let requestHead = ByteSlice(
        """
        POST /mcp HTTP/1.1\r\nHost: 127.0.0.1:3000\r\nContent-Type: application/json\r\n\
        Accept: application/json, text/event-stream\r\nMCP-Protocol-Version: 2026-07-28\r\n\
        Mcp-Method: tools/call\r\nMcp-Name: echo\r\nContent-Length: 241\r\n\r\n
        """)
}
