/// The part of a schema that can be checked on the bytes of a value, without building a tree or allocating
/// memory.
///
/// It covers types, lengths, bounds, string `enum`s, `required`, `properties`, `additionalProperties` and
/// `items`, nested to a small depth. If anything else applies to a value, the verdict is `unknown`.
@safe final class FlatSchema: @unchecked Sendable {
    enum Verdict {
        case valid, invalid, unknown
    }

    struct Node {
        var types = SchemaTypes.all
        /// The kinds of value that cannot be checked here.
        var unknown: SchemaTypes = []
        var minLength = 0
        var maxLength = Int.max
        var limitsLength = false
        var minimum = Int64.min
        var maximum = Int64.max
        var limitsNumber = false
        /// Whether `enum` restricts strings; the allowed ones are the range `texts` of `names`.
        var hasTexts = false
        var texts = 0 ..< 0
        /// The range of member names in `names`.
        var members = 0 ..< 0
        /// One bit per member, by position in `members`.
        var required: UInt64 = 0
        /// The node for other members: `any`, `none` or a number.
        var additional = FlatSchema.any
        var minMembers = 0
        var maxMembers = Int.max
        var items = FlatSchema.any
        var minItems = 0
        var maxItems = Int.max
    }

    struct Name {
        var start: Int
        var count: Int
        /// The node of this member, `any`, or `unlisted` when it is only required.
        var node: Int
    }

    static let any = -1
    static let none = -2
    static let unlisted = -3

    // SAFETY: filled in `init`, never changed afterwards, freed in `deinit`; `check` reads within these
    // bounds.
    private let nodes: UnsafeMutableBufferPointer<Node>
    private let names: UnsafeMutableBufferPointer<Name>
    private let text: UnsafeMutableBufferPointer<UInt8>

    /// Returns nil if nothing can be decided from the bytes.
    init?(_ program: SchemaProgram) {
        var builder = FlatSchemaBuilder(program)
        guard builder.build() else { return nil }
        unsafe nodes = .allocate(capacity: builder.nodes.count)
        unsafe names = .allocate(capacity: builder.names.count)
        unsafe text = .allocate(capacity: builder.text.count)
        _ = unsafe nodes.initialize(fromContentsOf: builder.nodes)
        _ = unsafe names.initialize(fromContentsOf: builder.names)
        _ = unsafe text.initialize(fromContentsOf: builder.text)
    }

    deinit {
        unsafe nodes.deallocate()
        unsafe names.deallocate()
        unsafe text.deallocate()
    }

    func check(_ raw: RawJSON) -> Verdict {
        let verdict = unsafe raw.bytes.withBytes { bytes -> Verdict in
            guard let base = bytes.baseAddress, bytes.count > 0 else { return .unknown }
            var walker = unsafe FlatWalker(
                base: base, end: bytes.count, nodes: UnsafeBufferPointer(nodes),
                names: UnsafeBufferPointer(names), text: UnsafeBufferPointer(text))
            return walker.check(0)
        }
        return withExtendedLifetime(self) { verdict }
    }
}
