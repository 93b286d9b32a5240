/// The writer that one call to `encode` writes to, shared by its encoders and containers.
///
/// Values are written as they arrive. A container is closed when something is written to an outer one, or
/// when the value that opened it is complete. Nested containers and super-encoders, which may be filled at
/// any time, write to a state of their own, and the text is assembled at the end.
@safe final class JSONEncodingState {
    // SAFETY: owned by this object and freed with it; a pointer, because access to a stored `var` is checked
    // for exclusivity at run time. Encoders are used on one thread at a time, as `Encoder` requires.
    private let sink: UnsafeMutablePointer<Sink>

    private struct Sink: ~Copyable {
        var writer: JSONWriter
        /// A bit for each open container, set for an object; the innermost container is the lowest bit.
        var objects: UInt128 = 0
        /// The depth of the writer at the start.
        let floor: Int
        var holes: [Hole] = []
    }

    /// A position in the text at which another state's text is inserted.
    private struct Hole {
        let offset: Int
        let child: JSONEncodingState
    }

    /// Creates a state that takes over the writer until `finish`.
    init(taking writer: inout JSONWriter) {
        let depth = writer.depth
        unsafe sink = .allocate(capacity: 1)
        unsafe sink.initialize(to: Sink(writer: JSONWriter(), floor: depth))
        unsafe swap(&writer, &sink.pointee.writer)
    }

    private convenience init(maxDepth: Int) {
        var writer = JSONWriter()
        writer.maxDepth = maxDepth
        self.init(taking: &writer)
    }

    deinit {
        unsafe sink.deinitialize(count: 1)
        unsafe sink.deallocate()
    }

    /// The number of open containers, including those around the value.
    var level: Int { @inline(__always) get { unsafe sink.pointee.writer.depth } }

    /// Calls `body` with the writer.
    @inline(__always)
    func write<R>(_ body: (inout JSONWriter) throws -> R) rethrows -> R {
        try unsafe body(&sink.pointee.writer)
    }

    // MARK: Containers

    /// Opens a container at `level`, or returns to the one that is open there.
    func open(object: Bool, at level: Int) {
        guard self.level == level else { return settle(level + 1) }
        unsafe sink.pointee.objects = sink.pointee.objects << 1 | (object ? 1 : 0)
        write { if object { $0.beginObject() } else { $0.beginArray() } }
    }

    /// Closes the containers inside `level`.
    @inline(__always)
    func settle(_ level: Int) { if self.level > level { close(to: level) } }

    private func close(to level: Int) {
        while self.level > level {
            let isObject = unsafe sink.pointee.objects & 1 == 1
            unsafe sink.pointee.objects >>= 1
            write { if isObject { $0.endObject() } else { $0.endArray() } }
        }
    }

    /// Makes the container at `level` the innermost.
    @inline(__always)
    func enter(_ level: Int) throws(JSONError) {
        settle(level)
        guard self.level == level else {
            throw JSONError(.invalidValue("a value was encoded into a container that is already closed"))
        }
    }

    /// Leaves a gap for a value that is written later.
    func hole() -> JSONEncodingState {
        let child = unsafe JSONEncodingState(maxDepth: max(0, sink.pointee.writer.maxDepth - level))
        let offset = write { writer in
            writer.gap()
            return writer.out.count
        }
        unsafe sink.pointee.holes.append(Hole(offset: offset, child: child))
        return child
    }

    // MARK: Values

    func double(_ value: some BinaryFloatingPoint & CustomStringConvertible) throws(JSONError) {
        guard value.isFinite else { throw JSONError(.invalidValue("\(value) cannot be written as JSON")) }
        write { $0.number(JSONNumber(scanned: JSONNumber.shortest(value.description))) }
    }

    @inline(__always)
    func integer(_ value: some FixedWidthInteger) {
        write { writer in
            if let value = Int(exactly: value) {
                writer.number(value)
            } else {
                writer.number(JSONNumber(value))
            }
        }
    }

    /// Writes any type: types that need no containers directly, others through their `encode(to:)`.
    func value<T: Encodable>(_ value: T) throws {
        if writeDirectly(value) { return }
        let level = level
        let limit = unsafe sink.pointee.writer.maxDepth
        guard level <= limit else { throw JSONError(.depthExceeded(limit)) }
        let before = unsafe sink.pointee.writer.out.count
        try value.encode(to: JSONEncoding(state: self, level: level))
        settle(level)
        if unsafe sink.pointee.writer.out.count == before { writeEmpty() }
    }

    /// Writes a value of a type that needs no encoder; returns false for any other type.
    ///
    /// Common collections are handled here because encoding them through the standard library costs several
    /// times as much.
    @inline(__always)
    private func writeDirectly<T>(_ value: T) -> Bool {
        if T.self == String.self {
            let string: String = unsafe same(value)
            write { $0.string(string) }
        } else if T.self == Int.self {
            let number: Int = unsafe same(value)
            write { $0.number(number) }
        } else if T.self == JSONValue.self {
            let tree: JSONValue = unsafe same(value)
            write { $0.value(tree) }
        } else if T.self == RawJSON.self {
            let raw: RawJSON = unsafe same(value)
            write { $0.raw(raw) }
        } else if T.self == JSONNumber.self {
            let number: JSONNumber = unsafe same(value)
            write { $0.number(number) }
        } else if T.self == JSONObject.self {
            let object: JSONObject = unsafe same(value)
            write { $0.object(object) }
        } else if T.self == [String].self {
            unsafe strings(same(value))
        } else if T.self == [String: String].self {
            let members: [String: String] = unsafe same(value)
            dictionary(members) { (writer: inout JSONWriter, value: String) in writer.string(value) }
        } else if T.self == [String: JSONValue].self {
            let members: [String: JSONValue] = unsafe same(value)
            dictionary(members) { (writer: inout JSONWriter, value: JSONValue) in writer.value(value) }
        } else {
            return false
        }
        return true
    }

    // SAFETY: called only where T and A are known to be the same type.
    @inline(__always)
    @unsafe private func same<A, T>(_ value: A) -> T { unsafe unsafeBitCast(value, to: T.self) }

    private func writeEmpty() {
        write { writer in
            writer.beginObject()
            writer.endObject()
        }
    }

    private func strings(_ values: [String]) {
        write { writer in
            writer.beginArray()
            for value in values { writer.string(value) }
            writer.endArray()
        }
    }

    private func dictionary<V>(_ values: [String: V], _ body: (inout JSONWriter, V) -> Void) {
        write { writer in
            writer.beginObject()
            for (key, value) in values {
                writer.key(key)
                body(&writer, value)
            }
            writer.endObject()
        }
    }

    // MARK: End

    /// Closes all open containers, fills the gaps after `start` and returns the writer.
    func finish(from start: Int, into writer: inout JSONWriter) {
        unsafe close(to: sink.pointee.floor)
        unsafe swap(&writer, &sink.pointee.writer)
        let holes = unsafe sink.pointee.holes
        guard !holes.isEmpty else { return }
        let text = writer.out.slice(start ..< writer.out.count).copy()
        writer.out.truncate(to: start)
        var copied = 0
        for hole in holes {
            writer.out.append(text[copied ..< hole.offset - start])
            copied = hole.offset - start
            var part = JSONWriter()
            hole.child.finish(from: 0, into: &part)
            if part.out.isEmpty { part.out.append("{}") }
            if let failure = part.failure { writer.fail(failure) }
            writer.out.append(part.finish())
        }
        writer.out.append(text[copied ..< text.count])
    }
}
