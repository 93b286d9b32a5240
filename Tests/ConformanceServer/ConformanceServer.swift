import MCPCore

/// The everything server: names and texts are those that the suite's own fixture has.
enum ConformanceServer {
    static func make() throws -> MCPServer {
        var options = ServerOptions()
        options.tasks = TaskOptions()
        let server = MCPServer(
            "conformance-server", version: "1.0.0", title: "Conformance server",
            instructions: "Every tool does what its description says.", options: options)
        // The first tool of the list is called without arguments by the header checks.
        try registerContentTools(on: server)
        try registerSchemaTool(on: server)
        try registerQuestionTools(on: server)
        try registerStreamTools(on: server)
        try registerRoundTripTools(on: server)
        try registerTaskTools(on: server)
        try registerResources(on: server)
        try registerPrompts(on: server)
        return server
    }
}

/// A picture of one pixel.
let onePixelPNG: [UInt8] = [
    0x89, 0x50, 0x4E, 0x47, 0x0D, 0x0A, 0x1A, 0x0A, 0x00, 0x00, 0x00, 0x0D, 0x49, 0x48, 0x44, 0x52, 0x00,
    0x00,
    0x00, 0x01, 0x00, 0x00, 0x00, 0x01, 0x08, 0x06, 0x00, 0x00, 0x00, 0x1F, 0x15, 0xC4, 0x89, 0x00, 0x00,
    0x00,
    0x0A, 0x49, 0x44, 0x41, 0x54, 0x78, 0x9C, 0x63, 0x00, 0x01, 0x00, 0x00, 0x05, 0x00, 0x01, 0x0D, 0x0A,
    0x2D,
    0xB4, 0x00, 0x00, 0x00, 0x00, 0x49, 0x45, 0x4E, 0x44, 0xAE, 0x42, 0x60, 0x82,
]

/// A sound without samples.
let silentWAV: [UInt8] =
    Array("RIFF".utf8) + [0x24, 0, 0, 0] + Array("WAVEfmt ".utf8)
    + [16, 0, 0, 0, 1, 0, 1, 0, 0x40, 0x1F, 0, 0, 0x80, 0x3E, 0, 0, 2, 0, 16, 0] + Array("data".utf8) + [
        0, 0, 0, 0,
    ]
