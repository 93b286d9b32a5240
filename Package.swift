// swift-tools-version: 6.2
import PackageDescription

let settings: [SwiftSetting] = [
    .enableUpcomingFeature("ExistentialAny"),
    .enableUpcomingFeature("InternalImportsByDefault"),
    .enableUpcomingFeature("MemberImportVisibility"),
    .enableUpcomingFeature("NonisolatedNonsendingByDefault"),
    .strictMemorySafety(),
]

let package = Package(
    name: "swift-mcp-core",
    platforms: [.macOS(.v15), .iOS(.v18)],
    products: [
        .library(name: "MCPCore", targets: ["MCPCore"]),
        .library(name: "MCPHarness", targets: ["MCPHarness"]),
        .library(name: "MCPApps", targets: ["MCPApps"]),
        .executable(name: "mcp-server", targets: ["MCPServerDaemon"]),
        .executable(name: "mcp-client", targets: ["MCPClientCLI"]),
    ],
    targets: [
        .target(name: "CMCPSystem"),
        .target(name: "MCPCore", dependencies: ["CMCPSystem"], swiftSettings: settings),
        .target(name: "MCPHarness", dependencies: ["MCPCore"], swiftSettings: settings),
        .target(name: "MCPApps", dependencies: ["MCPHarness", "MCPCore"], swiftSettings: settings),
        .executableTarget(
            name: "MCPServerDaemon", dependencies: ["MCPApps", "MCPCore"], swiftSettings: settings),
        .executableTarget(
            name: "MCPClientCLI", dependencies: ["MCPApps", "MCPHarness", "MCPCore"],
            resources: [.embedInCode("Host/Assets")],
            swiftSettings: settings),
        .executableTarget(
            name: "schema-suite", dependencies: ["MCPCore"], path: "Tests/SchemaSuite",
            swiftSettings: settings),
        .executableTarget(
            name: "conformance-server", dependencies: ["MCPCore"], path: "Tests/ConformanceServer",
            swiftSettings: settings),
        .executableTarget(
            name: "conformance-client", dependencies: ["MCPCore"], path: "Tests/ConformanceClient",
            swiftSettings: settings),
        .executableTarget(
            name: "example-minimal-server", dependencies: ["MCPCore"], path: "Examples/MinimalServer"),
        .executableTarget(
            name: "example-minimal-client", dependencies: ["MCPCore"], path: "Examples/MinimalClient"),
        .executableTarget(
            name: "example-secure-client", dependencies: ["MCPCore"], path: "Examples/SecureClient"),
        .executableTarget(name: "example-client", dependencies: ["MCPCore"], path: "Examples/Client"),
        .executableTarget(name: "example-embedded", dependencies: ["MCPCore"], path: "Examples/Embedded"),
        .executableTarget(
            name: "example-behind-own-http", dependencies: ["MCPCore"], path: "Examples/BehindOwnHTTP"),
        .executableTarget(
            name: "example-elicitation", dependencies: ["MCPCore"], path: "Examples/Elicitation"),
        .executableTarget(name: "example-forecast", dependencies: ["MCPCore"], path: "Examples/Forecast"),
        .executableTarget(
            name: "example-inventory", dependencies: ["MCPHarness", "MCPCore"], path: "Examples/Inventory"),
        .executableTarget(
            name: "example-client-tools", dependencies: ["MCPCore"], path: "Examples/ClientTools"),
        .executableTarget(name: "example-tool-hub", dependencies: ["MCPCore"], path: "Examples/ToolHub"),
        .executableTarget(name: "example-routes", dependencies: ["MCPCore"], path: "Examples/Routes"),
        .executableTarget(
            name: "example-request-log", dependencies: ["MCPCore"], path: "Examples/RequestLog"),
        .executableTarget(name: "example-dice", dependencies: ["MCPApps", "MCPCore"], path: "Examples/Dice"),
        .executableTarget(
            name: "example-view-host", dependencies: ["MCPApps", "MCPCore"], path: "Examples/ViewHost"),
        .executableTarget(name: "example-reports", dependencies: ["MCPCore"], path: "Examples/Reports"),
        .target(name: "TLSFront", path: "Tests/TLSFront", swiftSettings: settings),
        .target(name: "TestHTTP", path: "Tests/TestHTTP", swiftSettings: settings),
        .target(name: "LimitPages", path: "Tests/LimitPages", swiftSettings: settings),
        .testTarget(
            name: "MCPCoreTests", dependencies: ["MCPCore", "TLSFront", "LimitPages"], swiftSettings: settings
        ),
        .testTarget(
            name: "MCPHarnessTests", dependencies: ["MCPHarness", "MCPCore", "LimitPages"],
            swiftSettings: settings),
        .testTarget(
            name: "MCPAppsTests", dependencies: ["MCPApps", "MCPHarness", "MCPCore", "LimitPages"],
            swiftSettings: settings),
        .testTarget(name: "SimulationTests", dependencies: ["MCPCore"], swiftSettings: settings),
        .testTarget(
            name: "DaemonTests", dependencies: ["MCPServerDaemon", "MCPCore", "LimitPages"],
            swiftSettings: settings),
        .testTarget(
            name: "FaultTests", dependencies: ["MCPClientCLI", "MCPServerDaemon", "MCPCore"],
            swiftSettings: settings),
        .testTarget(
            name: "ClientCLITests",
            dependencies: [
                "MCPClientCLI", "MCPServerDaemon", "MCPApps", "MCPCore", "TLSFront", "TestHTTP", "LimitPages",
            ],
            swiftSettings: settings),
        .testTarget(
            name: "E2ETests", dependencies: ["MCPClientCLI", "MCPServerDaemon", "MCPCore", "TestHTTP"],
            swiftSettings: settings),
        .testTarget(
            name: "ConformanceTests", dependencies: ["MCPCore", "conformance-server", "conformance-client"],
            swiftSettings: settings),
        .testTarget(
            name: "DocsTests", dependencies: ["MCPCore", "MCPServerDaemon", "MCPClientCLI"],
            swiftSettings: settings),
        .testTarget(
            name: "ExampleTests",
            dependencies: [
                "MCPCore", "example-minimal-server", "example-minimal-client", "example-embedded",
                "example-client",
                "example-behind-own-http", "example-forecast", "example-reports", "example-elicitation",
                "example-inventory", "example-client-tools", "example-tool-hub", "example-dice",
                "example-routes", "example-request-log",
                "example-view-host",
            ], swiftSettings: settings),
    ],
    swiftLanguageModes: [.v6]
)
