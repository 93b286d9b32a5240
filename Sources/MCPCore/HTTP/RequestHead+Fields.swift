extension RequestHead {
    /// Calls `body` with the name and the value of each field line, in order.
    func forEachField(in bytes: ByteSlice, _ body: (_ name: ByteSlice, _ value: ByteSlice) -> Void) {
        bytes[0 ..< byteCount].forEachField(behind: target.range.upperBound, body)
    }

    /// The value of the first field called `name` in any case, or nil.
    ///
    /// For fields that have no place in `Field`, such as `Mcp-Param-*`; it searches the head anew.
    func value(named name: String, in bytes: ByteSlice) -> ByteSlice? { values(named: name, in: bytes).first }

    /// The values of all fields called `name` in any case, in order.
    func values(named name: String, in bytes: ByteSlice) -> [ByteSlice] {
        var found: [ByteSlice] = []
        forEachField(in: bytes) { if ASCII.equalsIgnoringCase($0, name.utf8) { found.append($1) } }
        return found
    }

    /// All fields as text, for programs that see an `HTTPRequest`.
    func headerFields(in bytes: ByteSlice) -> HeaderFields {
        var fields = HeaderFields()
        // What the parser let through is valid; text that is not UTF-8 becomes U+FFFD.
        forEachField(in: bytes) { try? fields.append(String($0), String($1)) }
        return fields
    }
}

extension ByteSlice {
    /// The field lines of a head that was parsed before; `offset` lies inside its start line.
    func forEachField(behind offset: Int, _ body: (_ name: ByteSlice, _ value: ByteSlice) -> Void) {
        unsafe withBytes { bytes in
            let view = unsafe ByteView(bytes)
            guard let startLine = view.firstLineFeed(from: offset) else { return }
            var start = startLine + 1
            while start < view.count, view[start] != ASCII.cr {
                let colon = view.firstColon(from: start)
                guard colon < view.count, let end = try? view.fieldEnd(from: colon + 1) else { return }
                body(self[start ..< colon], self[view.trimmed(colon + 1 ..< end)])
                start = end + 2
            }
        }
    }
}
