// swift-tools-version: 6.2
// A package of its own, as that of a program that uses the library; `make examples` builds it.
import PackageDescription

let core: Target.Dependency = .product(name: "MCPCore", package: "swift-mcp-core")
let harness: Target.Dependency = .product(name: "MCPHarness", package: "swift-mcp-core")
let foundation: Target.Dependency = .product(name: "MCPFoundation", package: "swift-mcp-core")
let apps: Target.Dependency = .product(name: "MCPApps", package: "swift-mcp-core")

/// Each example is a program of one file: its folder, and what it imports.
let examples: [(name: String, folder: String, imports: [Target.Dependency])] = [
    ("example-minimal-server", "MinimalServer", [core]),
    ("example-minimal-client", "MinimalClient", [core]),
    ("example-secure-client", "SecureClient", [core]),
    ("example-client", "Client", [core]),
    ("example-embedded", "Embedded", [core]),
    ("example-behind-own-http", "BehindOwnHTTP", [core]),
    ("example-elicitation", "Elicitation", [core]),
    ("example-forecast", "Forecast", [core]),
    ("example-minimal-agent", "MinimalAgent", [harness, core]),
    ("example-inventory", "Inventory", [harness, core]),
    ("example-minimal-provider", "MinimalProvider", [core]),
    ("example-client-tools", "ClientTools", [foundation, core]),
    ("example-tool-hub", "ToolHub", [core]),
    ("example-routes", "Routes", [core]),
    ("example-request-log", "RequestLog", [core]),
    ("example-dice", "Dice", [apps, core]),
    ("example-view-host", "ViewHost", [apps, core]),
    ("example-reports", "Reports", [core]),
    ("example-protected", "Protected", [core]),
    ("example-foundation", "Foundation", [foundation, core]),
    ("example-login", "Login", [core]),
    ("example-json", "JSON", [core]),
]

let package = Package(
    name: "swift-mcp-core-examples",
    platforms: [.macOS(.v15)],
    dependencies: [.package(name: "swift-mcp-core", path: "..")],
    targets: examples.map { .executableTarget(name: $0.name, dependencies: $0.imports, path: $0.folder) } + [
        .testTarget(
            name: "ExampleTests", dependencies: [core] + examples.map { .init(stringLiteral: $0.name) })
    ],
    swiftLanguageModes: [.v6]
)
