/// What a JSON text may cost to read.
public struct JSONLimits: Sendable, Hashable {
    /// The greatest depth that can be asked for; the scanner's stack of open containers has this many bits.
    static let greatestDepth = 128

    /// How many arrays and objects may be open inside one another: 64 by default, at most 128.
    ///
    /// One container too many is ``JSONError/Reason/depthExceeded(_:)``.
    public var maxDepth: Int { didSet { maxDepth = Self.clamped(maxDepth) } }

    /// How many bytes a text may have; no limit by default. A longer text is
    /// ``JSONError/Reason/tooLarge(_:)``.
    public var maxBytes: Int

    /// Limits; a depth outside `0...128` becomes the nearest value inside.
    public init(maxDepth: Int = 64, maxBytes: Int = .max) {
        self.maxDepth = Self.clamped(maxDepth)
        self.maxBytes = maxBytes
    }

    private static func clamped(_ depth: Int) -> Int { min(max(depth, 0), greatestDepth) }
}
