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
        .library(name: "MCPFoundation", targets: ["MCPFoundation"]),
        .executable(name: "mcp-server", targets: ["MCPServerDaemon"]),
        .executable(name: "mcp-client", targets: ["MCPClientCLI"]),
    ],
    targets: [
        .target(name: "CMCPSystem"),
        .target(name: "MCPCore", dependencies: ["CMCPSystem"], swiftSettings: settings),
        .target(name: "MCPHarness", dependencies: ["MCPCore"], swiftSettings: settings),
        .target(name: "MCPApps", dependencies: ["MCPHarness", "MCPCore"], swiftSettings: settings),
        // The only target that uses Foundation; no program of Linux has it.
        .target(name: "MCPFoundation", dependencies: ["MCPCore"], swiftSettings: settings),
        .executableTarget(
            name: "MCPServerDaemon", dependencies: ["MCPApps", "MCPCore"], swiftSettings: settings),
        .executableTarget(
            name: "MCPClientCLI",
            dependencies: [
                "MCPApps", "MCPHarness", "MCPCore",
                .target(name: "MCPFoundation", condition: .when(platforms: [.macOS])),
            ],
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
        // A test target without tests, so that it sees the insides of MCPCore and is part of no other build.
        .testTarget(
            name: "TestSupport", dependencies: ["MCPCore"], path: "Tests/Support", swiftSettings: settings),
        .testTarget(
            name: "MCPCoreTests", dependencies: ["TestSupport", "MCPCore"], swiftSettings: settings
        ),
        .testTarget(
            name: "MCPHarnessTests", dependencies: ["TestSupport", "MCPHarness", "MCPCore"],
            swiftSettings: settings),
        .testTarget(
            name: "MCPAppsTests", dependencies: ["TestSupport", "MCPApps", "MCPHarness", "MCPCore"],
            swiftSettings: settings),
        .testTarget(
            name: "MCPFoundationTests", dependencies: ["TestSupport", "MCPFoundation", "MCPCore"],
            swiftSettings: settings),
        .testTarget(
            name: "SimulationTests", dependencies: ["TestSupport", "MCPCore"], swiftSettings: settings),
        // The program in `Driver` is built by Tests/Fuzz/fuzz.py, with libFuzzer.
        .testTarget(
            name: "FuzzTests",
            dependencies: ["TestSupport", "MCPServerDaemon", "MCPApps", "MCPCore"], path: "Tests/Fuzz",
            exclude: ["Driver", "Corpus", "Regressions", "fuzz.py", "planted.py"], swiftSettings: settings),
        .testTarget(
            name: "DaemonTests", dependencies: ["TestSupport", "MCPServerDaemon", "MCPCore"],
            swiftSettings: settings),
        .testTarget(
            name: "FaultTests", dependencies: ["TestSupport", "MCPClientCLI", "MCPServerDaemon", "MCPCore"],
            swiftSettings: settings),
        .testTarget(
            name: "ClientCLITests",
            dependencies: [
                "TestSupport", "MCPClientCLI", "MCPServerDaemon", "MCPApps", "MCPHarness", "MCPCore",
            ],
            swiftSettings: settings),
        .testTarget(
            name: "E2ETests", dependencies: ["TestSupport", "MCPClientCLI", "MCPServerDaemon", "MCPCore"],
            swiftSettings: settings),
        .testTarget(
            name: "ConformanceTests",
            dependencies: ["TestSupport", "MCPCore", "conformance-server", "conformance-client"],
            swiftSettings: settings),
        .testTarget(
            name: "DocsTests", dependencies: ["TestSupport", "MCPCore", "MCPServerDaemon", "MCPClientCLI"],
            swiftSettings: settings),
    ],
    swiftLanguageModes: [.v6]
)
