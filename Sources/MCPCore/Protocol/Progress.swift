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
        guard let total, total > 0, total.isFinite, progress.isFinite else { return nil }
        return Swift.min(1, Swift.max(0, progress / total))
    }

    /// Reads the params of a notification; nil without a number that a Double can hold.
    init?(params: RawJSON) {
        guard let progress = params["progress"]?.double, progress.isFinite else { return nil }
        let total = params["total"]?.double
        self.init(
            progress, total: total?.isFinite == true ? total : nil, message: params["message"]?.string)
    }
}
