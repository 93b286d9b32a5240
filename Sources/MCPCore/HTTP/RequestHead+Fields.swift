extension RequestHead {
    /// Calls `body` with the name and the value of each field line, in order.
    func forEachField(in bytes: ByteSlice, _ body: (_ name: ByteSlice, _ value: ByteSlice) -> Void) {
        bytes[0 ..< byteCount].forEachField(behind: target.range.upperBound, body)
    }

    /// Returns the value of the first field called `name`, ignoring case, or nil.
    ///
    /// This is for fields that are not in `Field`, such as `Mcp-Param-*`; it searches the head on each call.
    func value(named name: String, in bytes: ByteSlice) -> ByteSlice? { values(named: name, in: bytes).first }

    /// Returns the values of all fields called `name`, ignoring case, in order.
    func values(named name: String, in bytes: ByteSlice) -> [ByteSlice] {
        var found: [ByteSlice] = []
        forEachField(in: bytes) { if ASCII.equalsIgnoringCase($0, name.utf8) { found.append($1) } }
        return found
    }

    /// Returns all fields as text, for code that receives an `HTTPRequest`.
    func headerFields(in bytes: ByteSlice) -> HeaderFields {
        var fields = HeaderFields()
        // Fields accepted by the parser are valid; text that is not UTF-8 becomes U+FFFD.
        forEachField(in: bytes) { try? fields.append(String($0), String($1)) }
        return fields
    }
}

extension ByteSlice {
    /// Calls `body` for each field line of a head that was parsed before; `offset` is within its start line.
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
