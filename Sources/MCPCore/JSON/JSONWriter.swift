/// A writer of JSON text to a growing buffer, one value after the other.
///
/// The writer adds commas and colons itself. The caller must close every container and, in an object, write a
/// key before each value. Strings are escaped as little as RFC 8259 section 7 allows. When a value cannot be
/// written, the rest of the text is kept: `failure` contains the reason, and `null` is written instead.
public struct JSONWriter: ~Copyable {
    /// The text that was written and not yet taken out.
    var out: ByteBuffer
    /// The maximum number of open containers; more cause `JSONError.Reason.depthExceeded`.
    var maxDepth = JSONLimits.greatestDepth
    /// The error for the first value since `startMessage` that could not be written correctly.
    var failure: JSONError?
    /// The number of open containers.
    private(set) var depth = 0
    /// Whether the innermost container already has a value.
    private var needsComma = false

    /// Creates a writer with an empty buffer.
    public init() { out = ByteBuffer() }

    /// Creates a writer that appends to the content of a buffer.
    init(buffer: consuming ByteBuffer) { out = buffer }

    /// Resets the state, so that the next value starts a separate text.
    @inline(__always)
    mutating func startMessage() {
        needsComma = false
        depth = 0
        failure = nil
    }

    /// Returns the text that was written and consumes the writer.
    public consuming func finish() -> ByteSlice { out.freeze() }

    /// Continues inside an object whose opening was written to `out` as plain bytes.
    @inline(__always)
    mutating func assumeOpenObject(hasMembers: Bool) {
        needsComma = hasMembers
        depth += 1
    }

    /// Records that a value could not be written, unless an earlier failure is recorded.
    mutating func fail(_ error: JSONError) {
        if failure == nil { failure = error }
    }

    // MARK: Containers

    /// Opens an object.
    @inline(__always)
    public mutating func beginObject() { open(ASCII.openBrace) }

    /// Closes the innermost container, an object.
    @inline(__always)
    public mutating func endObject() { close(ASCII.closeBrace) }

    /// Opens an array.
    @inline(__always)
    public mutating func beginArray() { open(ASCII.openBracket) }

    /// Closes the innermost container, an array.
    @inline(__always)
    public mutating func endArray() { close(ASCII.closeBracket) }

    @inline(__always)
    private mutating func open(_ bracket: UInt8) {
        separate()
        out.append(bracket)
        needsComma = false
        depth += 1
        if depth > maxDepth { fail(JSONError(.depthExceeded(maxDepth))) }
    }

    @inline(__always)
    private mutating func close(_ bracket: UInt8) {
        out.append(bracket)
        needsComma = true
        depth -= 1
    }

    @inline(__always)
    private mutating func separate() {
        if needsComma { out.append(ASCII.comma) }
        needsComma = true
    }

    // MARK: Names

    /// Writes a member's name.
    @inline(__always)
    public mutating func key(_ name: String) {
        quoted(name)
        out.append(ASCII.colon)
        needsComma = false
    }

    /// Writes a member's name that needs no escapes.
    @inline(__always)
    public mutating func key(_ name: StaticString) {
        literal(name, isKey: true)
        needsComma = false
    }

    // MARK: Values

    /// Writes a string.
    @inline(__always)
    public mutating func string(_ value: String) { quoted(value) }

    /// Writes a string that needs no escapes.
    @inline(__always)
    public mutating func string(_ value: StaticString) { literal(value, isKey: false) }

    /// Writes an integer.
    @inline(__always)
    public mutating func number(_ value: Int) {
        separate()
        out.append(decimal: value)
    }

    /// Writes a number in its shortest form (`3` for 3.0); `null` for infinities and NaN, which JSON lacks.
    public mutating func number(_ value: Double) {
        if let number = JSONNumber(value) { self.number(number) } else { null() }
    }

    /// Writes a number as it was spelled.
    @inline(__always)
    public mutating func number(_ value: JSONNumber) {
        separate()
        if unsafe value.text.utf8.withContiguousStorageIfAvailable({ unsafe out.append($0) }) != nil {
            return
        }
        out.append(utf8: value.text)
    }

    /// Writes `true` or `false`.
    @inline(__always)
    public mutating func bool(_ value: Bool) {
        separate()
        if value { out.append("true") } else { out.append("false") }
    }

    /// Writes `null`.
    @inline(__always)
    public mutating func null() {
        separate()
        out.append("null")
    }

    /// Writes a value as it was spelled.
    @inline(__always)
    public mutating func raw(_ value: RawJSON) {
        separate()
        out.append(value.bytes)
    }

    /// Writes a tree.
    public mutating func value(_ value: JSONValue) {
        switch value {
        case .null: null()
        case .bool(let value): bool(value)
        case .number(let value): number(value)
        case .string(let value): quoted(value)
        case .array(let elements):
            guard admitsContainer() else { return }
            beginArray()
            unsafe elements.withUnsafeBufferPointer { elements in
                unsafe elements.withMemoryRebound(to: Lent<JSONValue>.self) { elements in
                    for place in elements.indices { unsafe element(elements[place]) }
                }
            }
            endArray()
        case .object(let members): object(members)
        }
    }

    /// Writes an object.
    public mutating func object(_ object: JSONObject) {
        guard admitsContainer() else { return }
        beginObject()
        members(of: object)
        endObject()
    }

    /// Writes the members of an object into the open one.
    mutating func members(of object: JSONObject) {
        unsafe object.members.withUnsafeBufferPointer { members in
            unsafe members.withMemoryRebound(to: Lent<JSONObject.Member>.self) { members in
                for place in members.indices { unsafe member(members[place]) }
            }
        }
    }

    /// Writes members that were written before, with commas between them, into the open object.
    mutating func rawMembers(_ text: ByteSlice) {
        separate()
        out.append(text)
    }

    @inline(__always)
    private mutating func element(_ element: borrowing Lent<JSONValue>) { value(element.value) }

    @inline(__always)
    private mutating func member(_ member: borrowing Lent<JSONObject.Member>) {
        key(member.value.key)
        value(member.value.value)
    }

    /// Returns whether a container may be opened, and otherwise records a failure and writes `null`. Trees
    /// from a handler may have any depth; the recursion ends at the limit.
    @inline(__always)
    private mutating func admitsContainer() -> Bool {
        if depth < maxDepth { return true }
        fail(JSONError(.depthExceeded(maxDepth)))
        null()
        return false
    }

    /// Leaves a gap for a value that is inserted later, with the commas as if it were here.
    mutating func gap() { separate() }

    // MARK: Undoing

    /// The state to restore when a value proves impossible to write midway.
    struct Mark {
        let count: Int
        let depth: Int
        let needsComma: Bool
    }

    var mark: Mark { Mark(count: out.count, depth: depth, needsComma: needsComma) }

    /// Removes everything written since `mark`. None of it may be part of a slice yet.
    mutating func rewind(to mark: Mark) {
        out.truncate(to: mark.count)
        depth = mark.depth
        needsComma = mark.needsComma
    }

    // MARK: Strings

    @inline(__always)
    private mutating func literal(_ text: StaticString, isKey: Bool) {
        let count = text.utf8CodeUnitCount
        out.reserve(count + 4)
        let comma = needsComma
        needsComma = true
        _ = unsafe out.fill { target in
            var at = 0
            guard let start = target.baseAddress else { return 0 }
            if comma {
                unsafe start[0] = ASCII.comma
                at = 1
            }
            unsafe start[at] = ASCII.quote
            unsafe JSONBytes.copy(text.utf8Start, to: start + at + 1, count)
            at += count + 1
            unsafe start[at] = ASCII.quote
            if isKey {
                unsafe start[at + 1] = ASCII.colon
                return at + 2
            }
            return at + 1
        }
    }

    @inline(__always)
    private mutating func quoted(_ text: String) {
        // `withUTF8` needs a variable, which costs a retain and a release.
        if unsafe text.utf8.withContiguousStorageIfAvailable({ unsafe quoted(utf8: $0) }) != nil { return }
        var text = text
        text.withUTF8 { unsafe quoted(utf8: $0) }
    }

    /// Writes valid UTF-8 as a string.
    private mutating func quoted(utf8 bytes: UnsafeBufferPointer<UInt8>) {
        let count = bytes.count
        out.reserve(count + 3)
        let comma = needsComma
        needsComma = true
        var copied = 0
        _ = unsafe out.fill { target in
            guard let start = target.baseAddress else { return 0 }
            var at = 0
            if comma {
                unsafe start[0] = ASCII.comma
                at = 1
            }
            unsafe start[at] = ASCII.quote
            at += 1
            if let source = bytes.baseAddress {
                copied = unsafe JSONBytes.copyPlain(source, to: start + at, count)
            }
            at += copied
            guard copied == count else { return at }
            unsafe start[at] = ASCII.quote
            return at + 1
        }
        if copied < count { unsafe escaped(UnsafeBufferPointer(rebasing: bytes[copied...])) }
    }

    /// Writes the rest of a string, which starts with a character that must be escaped, and the closing
    /// quote.
    @inline(never)
    private mutating func escaped(_ bytes: UnsafeBufferPointer<UInt8>) {
        guard let base = bytes.baseAddress else { return }
        var index = 0
        while index < bytes.count {
            escape(unsafe base[index])
            index += 1
            let left = bytes.count - index
            out.reserve(left + 1)
            var copied = 0
            _ = unsafe out.fill { target in
                guard left > 0, let start = target.baseAddress else { return 0 }
                copied = unsafe JSONBytes.copyPlain(base + index, to: start, left)
                return copied
            }
            index += copied
        }
        out.append(ASCII.quote)
    }

    private mutating func escape(_ byte: UInt8) {
        switch byte {
        case 0x22: out.append("\\\"")
        case 0x5C: out.append("\\\\")
        case 0x08: out.append("\\b")
        case 0x09: out.append("\\t")
        case 0x0A: out.append("\\n")
        case 0x0C: out.append("\\f")
        case 0x0D: out.append("\\r")
        default:
            out.append("\\u00")
            out.append(ASCII.zero + byte >> 4)
            let low = byte & 15
            out.append(low < 10 ? ASCII.zero + low : 0x57 + low)
        }
    }
}

/// A value that is read in place, in memory owned elsewhere.
///
/// A value loaded through a pointer is retained and released again, because the compiler cannot know that the
/// memory does not change in the meantime; for a tree of strings and arrays, that is a quarter of the work. A
/// noncopyable value is not copied, so its parts are used in place. Memory of `Value` may be rebound to
/// `Lent<Value>`, which has the same layout.
struct Lent<Value>: ~Copyable {
    let value: Value
}
