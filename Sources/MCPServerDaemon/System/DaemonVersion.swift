import MCPCore

/// The version of the program.
enum DaemonVersion {
    static let current = PackageVersion.current
}
