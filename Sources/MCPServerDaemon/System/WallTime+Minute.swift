import MCPCore

extension WallTime {
    /// The time without the fraction of its minute.
    var minute: String { description.prefix(16) + "Z" }
}
