import MCPCore
import MCPFoundation
import Observation
import Synchronization
import Testing

/// The tools of an app as views see them.
@MainActor @Suite struct ObservableToolRegistryTests {
    private final class Greeting: ClientTool {
        let toolDefinition: Tool
        init(_ name: String) {
            toolDefinition = Tool(name: name, description: "Greets", inputSchema: ["type": "object"])
        }
    }

    @Test func viewsSeeEachChange() {
        let registry = ObservableToolRegistry()
        let changes = Mutex(0)
        func observe() {
            withObservationTracking {
                _ = registry.tools
            } onChange: {
                changes.withLock { $0 += 1 }
            }
        }
        observe()
        registry.register(tool: Greeting("a"))
        observe()
        registry.register(tool: Greeting("b"))
        observe()
        registry.unregister(name: "a")
        #expect(changes.withLock { $0 } == 3)
        #expect(registry.tools.map(\.name) == ["b"])
        #expect(registry.registry.registrationPayloads().map(\.name) == ["b"])
    }

    @Test func changesAtTheRegistryItselfAreSeen() {
        let inner = ClientToolRegistry()
        let registry = ObservableToolRegistry(inner)
        let changes = Mutex(0)
        withObservationTracking {
            _ = registry.tools
        } onChange: {
            changes.withLock { $0 += 1 }
        }
        inner.register(tool: Greeting("a"))
        #expect(changes.withLock { $0 } == 1 && registry.tools.map(\.name) == ["a"])
        inner.unregister(name: "a")
        #expect(registry.tools.isEmpty)
    }
}
