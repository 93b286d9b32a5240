/// The text that one call to `decode` reads, shared by its decoders and containers.
///
/// A value is identified by the offset of its first byte; nothing is built until it is requested. Errors
/// carry the offset, and only the outermost call converts it to a path, so that failed attempts of a type
/// that tries several shapes cost little.
@safe final class JSONDecodingSource {
    let text: ByteSlice
    // SAFETY: owned by this object and freed with it; a pointer, because access to a stored `var` is checked
    // for exclusivity at run time. Decoders are used on one thread at a time, as `Decoder` requires.
    private let entries: UnsafeMutablePointer<JSONStack<Entry>>

    /// A member of an object: the position of its name and the start of its value.
    struct Entry {
        let key: JSONStringToken
        let value: Int
    }

    /// Creates a source from `text`, which must be one valid value.
    init(_ text: ByteSlice) {
        self.text = text
        unsafe entries = .allocate(capacity: 1)
        unsafe entries.initialize(to: JSONStack())
    }

    deinit {
        unsafe entries.deinitialize(count: 1)
        unsafe entries.deallocate()
    }

    /// Returns a scanner at `position`. The text stays alive for the lifetime of this object.
    @inline(__always)
    func scanner(at position: Int) -> JSONScanner {
        var scanner = unsafe JSONScanner(
            UnsafeBufferPointer(start: text.base, count: text.count),
            limits: JSONLimits(maxDepth: JSONLimits.greatestDepth))
        scanner.position = position
        return scanner
    }

    func kind(at position: Int) -> JSONKind { JSONKind(firstByte: scanner(at: position).peek) }

    func isNull(at position: Int) -> Bool { scanner(at: position).peek == 0x6E }

    /// Lists the members of the object at `position`.
    func index(objectAt position: Int) throws(JSONError) -> Range<Int> {
        var scanner = scanner(at: position)
        guard scanner.peek == ASCII.openBrace else { throw mismatch("an object", at: position) }
        let first = unsafe entries.pointee.count
        scanner.position += 1
        scanner.skipWhitespace()
        guard scanner.peek == ASCII.quote else { return first ..< first }
        while true {
            let key = try scanner.scanKey()
            unsafe entries.pointee.push(Entry(key: key, value: scanner.position))
            try scanner.scanValue(depth: 1)
            scanner.skipWhitespace()
            guard scanner.peek == ASCII.comma else { break }
            scanner.position += 1
        }
        return unsafe first ..< entries.pointee.count
    }

    @inline(__always)
    func entry(_ place: Int) -> Entry { unsafe entries.pointee[place] }

    // MARK: Errors

    func mismatch(_ expected: String, at position: Int) -> JSONError {
        JSONError(.typeMismatch(expected: expected, found: kind(at: position)), offset: position)
    }

    /// Returns a path that represents the coding path of the value at `position`.
    func codingPath(_ position: Int) -> [any CodingKey] { [JSONPlaceKey(source: self, offset: position)] }

    /// Returns a decoding error with its path added; this includes errors that the standard library and other
    /// code throw.
    func located(_ error: any Error) -> any Error {
        if let error = error as? JSONError {
            guard error.path == nil else { return error }
            return JSONError(
                error.reason, offset: error.offset, path: JSONPointer.path(to: error.offset, in: text))
        }
        guard let error = error as? DecodingError else { return error }
        switch error {
        case .keyNotFound(let key, let context): return located(.missingMember(key.stringValue), context)
        case .typeMismatch(_, let context), .valueNotFound(_, let context), .dataCorrupted(let context):
            return located(.invalidValue(context.debugDescription), context)
        @unknown default: return error
        }
    }

    private func located(_ reason: JSONError.Reason, _ context: DecodingError.Context) -> JSONError {
        var path = ""
        var offset = 0
        for key in context.codingPath {
            if let place = key as? JSONPlaceKey {
                offset = place.offset
                path = place.stringValue
            } else {
                path += "/" + JSONPointer.escaped(key.stringValue)
            }
        }
        return JSONError(reason, offset: offset, path: path)
    }
}

/// Reads of single values.
extension JSONDecodingSource {
    func bool(at position: Int) throws(JSONError) -> Bool {
        switch scanner(at: position).peek {
        case 0x74: true
        case 0x66: false
        default: throw mismatch("a boolean", at: position)
        }
    }

    func string(at position: Int) throws(JSONError) -> String {
        var scanner = scanner(at: position)
        guard scanner.peek == ASCII.quote else { throw mismatch("a string", at: position) }
        return scanner.unescape(try scanner.scanString())
    }

    @inline(__always)
    func integer<I: FixedWidthInteger>(at position: Int) throws(JSONError) -> I {
        var scanner = scanner(at: position)
        guard kind(at: position) == .number else { throw mismatch("an integer", at: position) }
        let range = try scanner.scanNumber()
        let decimal = unsafe JSONDecimal(scanner.bytes(range))
        if let value: I = decimal.integer() { return value }
        throw notInteger(decimal.isIntegral, scanner.string(range), "\(I.self)", at: position)
    }

    @inline(never)
    private func notInteger(_ isIntegral: Bool, _ text: String, _ type: String, at position: Int) -> JSONError
    {
        if isIntegral { return JSONError(.numberOutOfRange(type), offset: position) }
        let shown = text.utf8.count > 40 ? text.prefix(40) + "…" : text[...]
        return JSONError(.invalidValue("expected an integer, found \(shown)"), offset: position)
    }

    func double(at position: Int) throws(JSONError) -> Double {
        let value = unsafe try number(at: position) { unsafe JSONDecimal($0).double() }
        guard value.isFinite else { throw JSONError(.numberOutOfRange("Double"), offset: position) }
        return value
    }

    func float(at position: Int) throws(JSONError) -> Float {
        let value = unsafe try number(at: position) {
            unsafe Float(String(decoding: $0, as: UTF8.self)) ?? .nan
        }
        guard value.isFinite else { throw JSONError(.numberOutOfRange("Float"), offset: position) }
        return value
    }

    @inline(__always)
    private func number<R>(
        at position: Int, _ read: (UnsafeBufferPointer<UInt8>) -> R
    ) throws(JSONError) -> R {
        var scanner = scanner(at: position)
        guard kind(at: position) == .number else { throw mismatch("a number", at: position) }
        return unsafe read(scanner.bytes(try scanner.scanNumber()))
    }

    func raw(at position: Int) throws(JSONError) -> RawJSON {
        var scanner = scanner(at: position)
        try scanner.scanValue(depth: 0)
        return RawJSON(unchecked: text[position ..< scanner.position])
    }

    func tree(at position: Int) throws(JSONError) -> JSONValue {
        var scanner = scanner(at: position)
        return try JSONTreeReader.read(&scanner, depth: 0)
    }

    /// Reads any type: types that need no containers directly, others through their `init(from:)`.
    ///
    /// Common collections are handled here because decoding them through the standard library costs several
    /// times as much.
    func value<T: Decodable>(_: T.Type, at position: Int) throws -> T {
        if T.self == String.self { return unsafe same(try string(at: position)) }
        if T.self == Int.self { return unsafe same(try integer(at: position) as Int) }
        if T.self == Double.self { return unsafe same(try double(at: position)) }
        if T.self == JSONValue.self { return unsafe same(try tree(at: position)) }
        if T.self == RawJSON.self { return unsafe same(try raw(at: position)) }
        if T.self == [String].self { return unsafe same(try strings(at: position)) }
        if T.self == [String: String].self { return unsafe same(try dictionary(at: position, string)) }
        if T.self == [String: JSONValue].self { return unsafe same(try dictionary(at: position, tree)) }
        if T.self == JSONNumber.self { return unsafe same(try number(at: position)) }
        if T.self == JSONObject.self { return unsafe same(try object(at: position)) }
        return try T(from: JSONDecoding(source: self, position: position))
    }

    // SAFETY: called only where T and A are known to be the same type.
    @inline(__always)
    @unsafe private func same<A, T>(_ value: A) -> T { unsafe unsafeBitCast(value, to: T.self) }

    func number(at position: Int) throws(JSONError) -> JSONNumber {
        unsafe JSONNumber(scanned: try number(at: position) { unsafe String(decoding: $0, as: UTF8.self) })
    }

    func object(at position: Int) throws(JSONError) -> JSONObject {
        guard case .object(let object) = try tree(at: position) else {
            throw mismatch("an object", at: position)
        }
        return object
    }

    private func strings(at position: Int) throws(JSONError) -> [String] {
        var elements = JSONElements(try array(at: position))
        var strings: [String] = []
        while let start = try elements.next() { strings.append(try string(at: start)) }
        return strings
    }

    private func dictionary<V>(
        at position: Int, _ read: (Int) throws(JSONError) -> V
    ) throws(JSONError) -> [String: V] {
        let members = try index(objectAt: position)
        var dictionary = [String: V](minimumCapacity: members.count)
        let scanner = scanner(at: position)
        for place in members {
            let entry = entry(place)
            dictionary[scanner.unescape(entry.key)] = try read(entry.value)
        }
        return dictionary
    }

    /// Returns a scanner at the array at `position`.
    func array(at position: Int) throws(JSONError) -> JSONScanner {
        let scanner = scanner(at: position)
        guard scanner.peek == ASCII.openBracket else { throw mismatch("an array", at: position) }
        return scanner
    }
}
