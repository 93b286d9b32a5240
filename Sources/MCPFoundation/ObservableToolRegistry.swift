public import MCPCore
public import Observation

/// The tools of an app, for views: a view that reads `tools` is updated when a tool is added or removed.
///
/// It observes the registry that a `ClientToolProvider` offers, whoever changes it. A registry has one such
/// object; the last one is informed.
///
/// ```swift
/// List(registry.tools, id: \.name) { tool in Text(tool.description) }
/// ```
@MainActor @Observable public final class ObservableToolRegistry {
    /// The registry behind this object, to offer with a `ClientToolProvider`.
    @ObservationIgnored public let registry: ClientToolRegistry

    /// The tools, in the order of their registration.
    public private(set) var tools: [ToolRegistrationPayload]

    /// Creates an object for a registry, by default an empty one.
    public init(_ registry: ClientToolRegistry = ClientToolRegistry()) {
        self.registry = registry
        tools = registry.registrationPayloads()
        registry.onChange = { [weak self] in self?.update() }
    }

    private func update() { tools = registry.registrationPayloads() }

    /// Adds a tool; one with the same name is replaced in place.
    public func register(tool: any ClientTool) { registry.register(tool: tool) }

    /// Removes a tool; has no effect if there is none with this name.
    public func unregister(name: String) { registry.unregister(name: name) }
}
