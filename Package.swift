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
    ],
    swiftLanguageModes: [.v6]
)
