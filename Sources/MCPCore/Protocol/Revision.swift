/// The features of one revision of the protocol: the differences between revisions as data.
///
/// Encoders check a feature flag, never a version. A new revision is a new row here (Table 3 of the
/// requirements).
package struct Revision: Sendable, Hashable {
    struct Features: OptionSet, Sendable, Hashable {
        let rawValue: UInt32

        /// JSON-RPC batches are accepted.
        static let batches = Features(rawValue: 1 << 0)
        /// Tools have `annotations`; content may be audio; progress carries a message.
        static let annotations = Features(rawValue: 1 << 1)
        /// `title`, `_meta` on every type, `resource_link`, `outputSchema`, `structuredContent` (an object).
        static let structured = Features(rawValue: 1 << 2)
        /// `icons`; `description` and `websiteUrl` of an implementation.
        static let icons = Features(rawValue: 1 << 3)
        /// `structuredContent` may be any JSON value.
        static let anyStructured = Features(rawValue: 1 << 4)
        /// Results carry `resultType` and `serverInfo`, lists and reads carry `ttlMs` and `cacheScope`.
        static let stampedResults = Features(rawValue: 1 << 5)
        /// Arguments that do not fit the tool's schema produce an `isError` result, not a JSON-RPC error.
        static let argumentErrorsAreResults = Features(rawValue: 1 << 6)
        /// An error whose request ID is not known omits the `id`; in earlier revisions the `id` is null.
        static let errorIDMayBeAbsent = Features(rawValue: 1 << 7)
        /// `MCP-Protocol-Version` is sent on every HTTP request after `initialize`.
        static let versionHeader = Features(rawValue: 1 << 8)
        /// Completion has a capability of its own.
        static let completionsCapability = Features(rawValue: 1 << 9)
        /// Clients can be asked for input from their users through forms.
        static let elicitation = Features(rawValue: 1 << 10)
        /// Elicitation has modes: form and URL.
        static let elicitationModes = Features(rawValue: 1 << 11)
        /// Sampling supports tools; a message may contain several blocks.
        static let samplingTools = Features(rawValue: 1 << 12)
        /// Completion requests contain the arguments that are already filled in.
        static let completionContext = Features(rawValue: 1 << 13)
        /// An event stream begins with an event that has an ID and no data; it may be polled.
        static let ssePriming = Features(rawValue: 1 << 14)
        /// Event streams of a session can be resumed.
        static let resumption = Features(rawValue: 1 << 15)
        /// Either side may support extensions, under `capabilities.extensions`.
        static let extensions = Features(rawValue: 1 << 16)
    }

    let version: ProtocolVersion
    /// Whether requests are stateless: each one specifies its revision in `_meta`.
    let isModern: Bool
    let features: Features
    /// The code for a resource that does not exist.
    let resourceNotFound: Int
    /// The index in `all`.
    let index: Int

    /// All revisions, oldest first.
    static let all: [Revision] = [
        Revision(
            version: .v2024_11_05, isModern: false, features: [],
            resourceNotFound: -32002, index: 0),
        Revision(
            version: .v2025_03_26, isModern: false,
            features: [.batches, .annotations, .completionsCapability, .resumption],
            resourceNotFound: -32002, index: 1),
        Revision(
            version: .v2025_06_18, isModern: false,
            features: [
                .annotations, .structured, .versionHeader, .completionsCapability, .elicitation,
                .completionContext, .resumption,
            ],
            resourceNotFound: -32002, index: 2),
        Revision(
            version: .v2025_11_25, isModern: false,
            features: [
                .annotations, .structured, .icons, .argumentErrorsAreResults, .errorIDMayBeAbsent,
                .versionHeader, .completionsCapability, .elicitation, .elicitationModes, .samplingTools,
                .completionContext, .ssePriming, .resumption,
            ],
            resourceNotFound: -32002, index: 3),
        Revision(
            version: .v2026_07_28, isModern: true,
            features: [
                .annotations, .structured, .icons, .anyStructured, .stampedResults,
                .argumentErrorsAreResults, .errorIDMayBeAbsent, .versionHeader, .completionsCapability,
                .elicitation, .elicitationModes, .samplingTools, .completionContext, .extensions,
            ],
            resourceNotFound: -32602, index: 4),
    ]

    /// The newest revision.
    package static let newest = all[4]
    static let newestLegacy = all[3]

    static func named(_ text: String) -> Revision? { all.first { $0.version.text == text } }

    static func named(_ bytes: ByteSlice) -> Revision? {
        // Dates of ten bytes: compare from the newest, which is the most common.
        for revision in all.reversed() where bytes.elementsEqual(revision.version.text.utf8) {
            return revision
        }
        return nil
    }

    func has(_ feature: Features) -> Bool { features.contains(feature) }
}
