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
    ],
    targets: [
        .target(name: "CMCPSystem"),
        .target(name: "MCPCore", dependencies: ["CMCPSystem"], swiftSettings: settings),
    ],
    swiftLanguageModes: [.v6]
)
