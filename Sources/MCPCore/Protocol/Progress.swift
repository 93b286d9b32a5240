/// How far a call has come (basic/patterns/progress).
public struct Progress: Sendable, Hashable {
    /// Grows with every report.
    public var progress: Double
    /// The value of `progress` at the end, when it is known.
    public var total: Double?
    /// What is being done (2025-03-26 and later).
    public var message: String?

    /// Makes a report.
    public init(_ progress: Double, total: Double? = nil, message: String? = nil) {
        self.progress = progress
        self.total = total
        self.message = message
    }

    /// 0 to 1, when the total is known.
    public var fraction: Double? {
        guard let total, total > 0 else { return nil }
        return Swift.min(1, Swift.max(0, progress / total))
    }

    init?(params: RawJSON) {
        guard let progress = params["progress"]?.double else { return nil }
        self.init(progress, total: params["total"]?.double, message: params["message"]?.string)
    }
}
