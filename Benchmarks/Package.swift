// swift-tools-version: 6.2
// A package of its own, so that nobody who uses the library builds it. `make bench` does.
import PackageDescription

let package = Package(
    name: "swift-mcp-core-benchmarks",
    platforms: [.macOS(.v15)],
    dependencies: [.package(name: "swift-mcp-core", path: "..")],
    targets: [
        .executableTarget(
            name: "micro", dependencies: [.product(name: "MCPCore", package: "swift-mcp-core")],
            path: "Micro"),
        .executableTarget(
            name: "benchmark-server", dependencies: [.product(name: "MCPCore", package: "swift-mcp-core")],
            path: "Server"),
        .executableTarget(
            name: "benchmark-client", dependencies: [.product(name: "MCPCore", package: "swift-mcp-core")],
            path: "Client"),
    ],
    swiftLanguageModes: [.v6]
)
