/// A type of the Model Context Protocol, with hand-written JSON reading and writing for every revision.
///
/// It also conforms to `Codable`, so that such a value can be part of your own types.
public protocol WireType: Codable, Sendable, Hashable {
    /// Reads the value; unknown members are ignored (JRPC-23).
    init(json: JSONValue) throws(JSONError)

    /// The value as JSON in the form of the newest revision.
    var json: JSONValue { get }
}

/// A wire type whose JSON form depends on the revision.
protocol RevisionedWireType: WireType {
    func write(to writer: inout JSONWriter, for revision: Revision)
}

extension RevisionedWireType {
    /// The value as JSON in the form of the newest revision.
    public var json: JSONValue {
        var writer = JSONWriter()
        write(to: &writer, for: .newest)
        return RawJSON(unchecked: writer.finish()).value
    }
}

extension WireType {
    /// Decodes the value by way of JSON.
    public init(from decoder: any Decoder) throws { try self.init(json: JSONValue(from: decoder)) }

    /// Encodes the value in the form of the newest revision.
    public func encode(to encoder: any Encoder) throws { try json.encode(to: encoder) }
}

/// Reads the members of one object and reports the member that is wrong.
struct MemberReader {
    let object: JSONObject

    init(_ json: JSONValue, as type: StaticString) throws(JSONError) {
        guard case .object(let object) = json else {
            throw JSONError(.typeMismatch(expected: "\(type) object", found: json.kind), path: "")
        }
        self.object = object
    }

    subscript(key: String) -> JSONValue? {
        guard let value = object[key], !value.isNull else { return nil }
        return value
    }

    private func mismatch(_ key: String, _ expected: String) -> JSONError {
        JSONError(.typeMismatch(expected: expected, found: object[key]?.kind ?? .null), path: "/\(key)")
    }

    func string(_ key: String) throws(JSONError) -> String {
        guard let text = try optionalString(key) else {
            throw JSONError(.missingMember(key), path: "")
        }
        return text
    }

    func optionalString(_ key: String) throws(JSONError) -> String? {
        guard let value = self[key] else { return nil }
        guard case .string(let text) = value else { throw mismatch(key, "a string") }
        return text
    }

    func optionalBool(_ key: String) throws(JSONError) -> Bool? {
        guard let value = self[key] else { return nil }
        guard case .bool(let flag) = value else { throw mismatch(key, "true or false") }
        return flag
    }

    func optionalInt(_ key: String) throws(JSONError) -> Int? {
        guard let value = self[key] else { return nil }
        guard let number = value.intValue else { throw mismatch(key, "an integer") }
        return number
    }

    func optionalDouble(_ key: String) throws(JSONError) -> Double? {
        guard let value = self[key] else { return nil }
        guard let number = value.doubleValue else { throw mismatch(key, "a number") }
        // Infinity could not be written back, because JSON does not support it.
        guard number.isFinite else { throw JSONError(.numberOutOfRange("Double"), path: "/\(key)") }
        return number
    }

    func optionalObject(_ key: String) throws(JSONError) -> JSONObject? {
        guard let value = self[key] else { return nil }
        guard case .object(let object) = value else { throw mismatch(key, "an object") }
        return object
    }

    /// The `_meta` member as misspelled by some servers; accepted for user interfaces only (MCP Apps
    /// 2026-01-26 "UI Resource Format").
    var misspelledMeta: JSONObject? {
        guard let meta = object["meta"]?.objectValue, meta["ui"]?.objectValue != nil else { return nil }
        return meta
    }

    func strings(_ key: String) throws(JSONError) -> [String] {
        guard let value = self[key] else { return [] }
        guard case .array(let items) = value else { throw mismatch(key, "an array of strings") }
        var strings: [String] = []
        for item in items {
            guard case .string(let text) = item else { throw mismatch(key, "an array of strings") }
            strings.append(text)
        }
        return strings
    }

    /// Reads an array of wire types; an absent member is read as empty unless `required` is true.
    func array<T: WireType>(
        _ key: String, of type: T.Type = T.self, required: Bool = false
    ) throws(JSONError) -> [T] {
        guard let value = self[key] else {
            if required { throw JSONError(.missingMember(key), path: "") }
            return []
        }
        guard case .array(let items) = value else { throw mismatch(key, "an array") }
        var result: [T] = []
        result.reserveCapacity(items.count)
        for (index, item) in items.enumerated() {
            do {
                result.append(try T(json: item))
            } catch {
                throw error.prefixed(by: "/\(key)/\(index)")
            }
        }
        return result
    }

    func optional<T: WireType>(_ key: String, as type: T.Type = T.self) throws(JSONError) -> T? {
        guard let value = self[key] else { return nil }
        do {
            return try T(json: value)
        } catch {
            throw error.prefixed(by: "/\(key)")
        }
    }
}

extension JSONError {
    /// Returns the same error with its path prefixed by that of an outer value.
    func prefixed(by outer: String) -> JSONError {
        var error = self
        error.path = outer + (path ?? "")
        return error
    }
}
