/// The version of this package: that of its libraries and of both programs (`mcp-server version`).
public enum PackageVersion {
    /// The version, as in semantic versioning: `MAJOR.MINOR.PATCH`.
    public static let current = "0.1.0"
}
