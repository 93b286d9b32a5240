import MCPCore

/// Tools that belong together, with their instructions: a part that several harnesses can share.
public struct HarnessPlugin: Sendable {
    /// The name, which is also that of the source of its tools.
    public var name: String
    /// What a model is told about the use of the tools; nil for nothing.
    public var instructions: String?
    /// The tools.
    public var tools: [HostTool]

    /// Creates a plugin from tools.
    ///
    /// - Parameter name: 1 to 64 characters, unique within a harness.
    public init(_ name: String, instructions: String? = nil, tools: [HostTool]) {
        self.name = name
        self.instructions = instructions
        self.tools = tools
    }

    /// Returns the sources of plugins; of tools with the same name the first one is used.
    static func sources(_ plugins: [HarnessPlugin]) throws(HarnessError) -> [any ToolSource] {
        var names: Set<String> = []
        var sources: [any ToolSource] = []
        for plugin in plugins {
            let tools = plugin.tools.filter { names.insert($0.tool.name).inserted }
            sources.append(
                try HostToolSource(tools, id: ToolSourceID(plugin.name), instructions: plugin.instructions))
        }
        return sources
    }
}
