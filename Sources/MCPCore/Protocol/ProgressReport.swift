/// The progress of a call (basic/patterns/progress).
public struct ProgressReport: Sendable, Hashable {
    /// The current value, which increases with every report.
    public var progress: Double
    /// The value of `progress` at the end, if known.
    public var total: Double?
    /// A description of the current work (2025-03-26 and later).
    public var message: String?

    /// Creates a report.
    public init(_ progress: Double, total: Double? = nil, message: String? = nil) {
        self.progress = progress
        self.total = total
        self.message = message
    }

    /// The completed fraction, from 0 to 1, if the total is known.
    public var fraction: Double? {
        guard let total, total > 0, total.isFinite, progress.isFinite else { return nil }
        return Swift.min(1, Swift.max(0, progress / total))
    }

    /// Reads the params of a notification; nil if they contain no number that a Double can represent.
    init?(params: RawJSON) {
        guard let progress = params["progress"]?.double, progress.isFinite else { return nil }
        let total = params["total"]?.double
        self.init(
            progress, total: total?.isFinite == true ? total : nil, message: params["message"]?.string)
    }
}
