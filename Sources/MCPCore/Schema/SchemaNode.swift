/// One compiled schema. Other nodes are referred to by their indices in `SchemaProgram.nodes`, so cycles need
/// no special handling.
final class SchemaNode: Sendable {
    /// The location of the schema: a fragment in the root document, otherwise a URI.
    let location: String
    /// The schema resource it belongs to.
    let resource: Int
    /// Set for the schemas `true` and `false`.
    let verdict: Bool?
    let types: SchemaTypes
    let enumeration: [JSONValue]?
    /// The same values as a set, when there are too many to compare one by one.
    let enumerationSet: Set<JSONValue>?
    let constant: JSONValue?
    let number: NumberRules?
    let string: StringRules?
    let array: ArrayRules?
    let object: ObjectRules?
    let applicators: [SchemaApplicator]

    /// Whether it needs to know what the schemas next to it and below it have evaluated.
    var needsEvaluated: Bool { array?.unevaluated != nil || object?.unevaluated != nil }

    init(verdict: Bool, location: String, resource: Int) {
        self.location = location
        self.resource = resource
        self.verdict = verdict
        types = .all
        enumeration = nil
        enumerationSet = nil
        constant = nil
        number = nil
        string = nil
        array = nil
        object = nil
        applicators = []
    }

    init(_ parts: SchemaParts, location: String, resource: Int) {
        self.location = location
        self.resource = resource
        verdict = nil
        types = parts.types
        enumeration = parts.enumeration
        enumerationSet = parts.enumeration.flatMap { $0.count > 16 ? Set($0) : nil }
        constant = parts.constant
        number = parts.number
        string = parts.string
        array = parts.array
        object = parts.object
        applicators = parts.applicators
    }
}

/// The parts of a node while the compiler collects them.
struct SchemaParts {
    var types = SchemaTypes.all
    var enumeration: [JSONValue]?
    var constant: JSONValue?
    var number: NumberRules?
    var string: StringRules?
    var array: ArrayRules?
    var object: ObjectRules?
    var applicators: [SchemaApplicator] = []
}

/// A keyword that applies schemas to the same value.
enum SchemaApplicator: Sendable {
    case reference(Int)
    /// A `$dynamicRef` whose first target has the `$dynamicAnchor` with that number (2020-12 core 8.2.3.2).
    case dynamicReference(anchor: Int, fallback: Int)
    case allOf([Int])
    case anyOf([Int])
    case oneOf([Int])
    case not(Int)
    case conditional(condition: Int, then: Int?, otherwise: Int?)
}

/// A set of the type names that `type` can have.
struct SchemaTypes: OptionSet, Sendable, Hashable {
    let rawValue: UInt8

    static let null = SchemaTypes(rawValue: 1)
    static let boolean = SchemaTypes(rawValue: 2)
    static let integer = SchemaTypes(rawValue: 4)
    static let number = SchemaTypes(rawValue: 12)
    static let string = SchemaTypes(rawValue: 16)
    static let array = SchemaTypes(rawValue: 32)
    static let object = SchemaTypes(rawValue: 64)
    static let all = SchemaTypes(rawValue: 127)

    static let names: [(name: String, types: SchemaTypes)] = [
        ("null", .null), ("boolean", .boolean), ("integer", .integer), ("number", .number),
        ("string", .string),
        ("array", .array), ("object", .object),
    ]

    /// The names in this set, as in `string or null`.
    var description: String {
        let found = Self.names.filter { entry in
            isSuperset(of: entry.types) && !(entry.types == .integer && isSuperset(of: .number))
        }
        return found.map(\.name).joined(separator: " or ")
    }
}

struct NumberRules: Sendable {
    var minimum: SchemaDecimal?
    var maximum: SchemaDecimal?
    var exclusiveMinimum: SchemaDecimal?
    var exclusiveMaximum: SchemaDecimal?
    var multipleOf: SchemaDecimal?
}

struct StringRules: Sendable {
    var minLength: Int?
    var maxLength: Int?
    var pattern: Pattern?
    var format: StringFormat?

    var limitsLength: Bool { minLength != nil || maxLength != nil }
}

final class ArrayRules: Sendable {
    struct Parts {
        var prefix: [Int] = []
        var items: Int?
        var contains: Int?
        var minContains: Int?
        var maxContains: Int?
        var minItems: Int?
        var maxItems: Int?
        var uniqueItems = false
        var unevaluated: Int?
    }

    let parts: Parts
    var unevaluated: Int? { parts.unevaluated }

    init(_ parts: Parts) { self.parts = parts }
}

final class ObjectRules: Sendable {
    struct Parts {
        /// All names that some keyword mentions; the rules below refer to them by their slots.
        var names: [String] = []
        /// For each slot, the schema under `properties`.
        var properties: [Int?] = []
        var required: [Int] = []
        var patterns: [(pattern: Pattern, node: Int)] = []
        var additional: Int?
        var propertyNames: Int?
        var minProperties: Int?
        var maxProperties: Int?
        var dependentRequired: [(slot: Int, needed: [Int])] = []
        var dependentSchemas: [(slot: Int, node: Int)] = []
        var unevaluated: Int?
    }

    let parts: Parts
    private let table: [JSONKey: Int]
    var unevaluated: Int? { parts.unevaluated }

    /// Whether the presence of names needs to be tracked.
    let needsPresence: Bool

    init(_ parts: Parts) {
        self.parts = parts
        var table: [JSONKey: Int] = [:]
        if parts.names.count > 8 {
            for (slot, name) in parts.names.enumerated() { table[JSONKey(name: name)] = slot }
        }
        self.table = table
        needsPresence =
            !(parts.required.isEmpty && parts.dependentRequired.isEmpty && parts.dependentSchemas.isEmpty)
    }

    func slot(of name: String) -> Int? {
        guard table.isEmpty else { return table[JSONKey(name: name)] }
        return parts.names.firstIndex { JSONKey.same($0, name) }
    }
}

/// A compiled schema together with everything that it refers to.
struct SchemaProgram: Sendable {
    var nodes: [SchemaNode]
    var root: Int
    let rootResource: Int
    /// For each resource, the nodes of its dynamic anchors, keyed by the number of the anchor's name.
    var dynamicAnchors: [[Int: Int]]
    var usesDynamicScope: Bool
    /// Every name that appears under some `properties`.
    var listedNames: Set<JSONKey>
}
