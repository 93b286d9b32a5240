/// Methods that write a name and its value in one call; nil values are omitted.
extension JSONWriter {
    /// Writes a member.
    @inline(__always)
    public mutating func member(_ name: StaticString, _ value: String) {
        key(name)
        string(value)
    }

    /// Writes a member, or nothing for nil.
    @inline(__always)
    public mutating func member(_ name: StaticString, _ value: String?) {
        if let value { member(name, value) }
    }

    /// Writes a member.
    @inline(__always)
    public mutating func member(_ name: StaticString, _ value: Int) {
        key(name)
        number(value)
    }

    /// Writes a member, or nothing for nil.
    @inline(__always)
    public mutating func member(_ name: StaticString, _ value: Int?) {
        if let value { member(name, value) }
    }

    /// Writes a member; infinities and NaN become `null`.
    @inline(__always)
    public mutating func member(_ name: StaticString, _ value: Double) {
        key(name)
        number(value)
    }

    /// Writes a member, or nothing for nil, infinities and NaN, the last two of which JSON lacks.
    @inline(__always)
    public mutating func member(_ name: StaticString, _ value: Double?) {
        if let value, value.isFinite { member(name, value) }
    }

    /// Writes a member.
    @inline(__always)
    public mutating func member(_ name: StaticString, _ value: Bool) {
        key(name)
        bool(value)
    }

    /// Writes a member, or nothing for nil.
    @inline(__always)
    public mutating func member(_ name: StaticString, _ value: Bool?) {
        if let value { member(name, value) }
    }

    /// Writes a member.
    @inline(__always)
    public mutating func member(_ name: StaticString, _ value: JSONValue) {
        key(name)
        self.value(value)
    }

    /// Writes a member, or nothing for nil.
    @inline(__always)
    public mutating func member(_ name: StaticString, _ value: JSONValue?) {
        if let value { member(name, value) }
    }

    /// Writes a member. A dictionary literal is interpreted as a ``JSONValue``.
    @inline(__always)
    @_disfavoredOverload
    public mutating func member(_ name: StaticString, _ value: JSONObject) {
        key(name)
        object(value)
    }

    /// Writes a member, or nothing for nil.
    @inline(__always)
    @_disfavoredOverload
    public mutating func member(_ name: StaticString, _ value: JSONObject?) {
        if let value { member(name, value) }
    }

    /// Writes a member.
    @inline(__always)
    public mutating func member(_ name: StaticString, _ value: RawJSON) {
        key(name)
        raw(value)
    }

    /// Writes a member, or nothing for nil.
    @inline(__always)
    public mutating func member(_ name: StaticString, _ value: RawJSON?) {
        if let value { member(name, value) }
    }
}
