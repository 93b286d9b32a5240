/// The bytes that surround every result, computed once per server.
struct ResultEnvelope: Sendable {
    /// The end of a modern result: `_meta` with the server's identity (META-11), and the closing braces.
    private let modernTail: ByteSlice
    private let serverInfo: RawJSON
    /// The maximum nesting depth of a result: we do not write what we refuse to read (fault 22).
    private let maxDepth: Int

    init(identity: Implementation, maxDepth: Int) {
        self.maxDepth = maxDepth
        serverInfo = RawJSON(identity.json)
        var tail = ByteBuffer()
        tail.append(#","_meta":{"io.modelcontextprotocol/serverInfo":"#)
        tail.append(serverInfo.bytes)
        tail.append("}}}")
        modernTail = tail.freeze()
    }

    /// Writes everything up to the result's own members.
    @inline(__always)
    func begin(_ writer: inout JSONWriter, id: ByteSlice, for revision: Revision) {
        writer.startMessage()
        writer.maxDepth = maxDepth
        writer.out.append(#"{"jsonrpc":"2.0","id":"#)
        writer.out.append(id)
        if revision.has(.stampedResults) {
            writer.out.append(#","result":{"resultType":"complete""#)
            writer.assumeOpenObject(hasMembers: true)
        } else {
            writer.out.append(#","result":{"#)
            writer.assumeOpenObject(hasMembers: false)
        }
    }

    /// Writes the same for a result that is not complete, which exists only in stamped revisions (JRPC-09).
    func begin(_ writer: inout JSONWriter, id: ByteSlice, resultType: StaticString) {
        writer.startMessage()
        writer.maxDepth = maxDepth
        writer.out.append(#"{"jsonrpc":"2.0","id":"#)
        writer.out.append(id)
        writer.out.append(#","result":{"resultType":""#)
        writer.out.append(resultType)
        writer.out.append("\"")
        writer.assumeOpenObject(hasMembers: true)
    }

    /// Closes the result and the message.
    @inline(__always)
    func end(_ writer: inout JSONWriter, meta: JSONObject? = nil, for revision: Revision) {
        if let meta {
            writeMeta(meta, to: &writer, for: revision)
        } else if revision.has(.stampedResults) {
            writer.out.append(modernTail)
        } else {
            writer.out.append("}}")
        }
    }

    private func writeMeta(_ meta: JSONObject, to writer: inout JSONWriter, for revision: Revision) {
        writer.key("_meta")
        writer.beginObject()
        for (key, value) in meta where key != "io.modelcontextprotocol/serverInfo" {
            writer.key(key)
            writer.value(value)
        }
        if revision.has(.stampedResults) {
            writer.key("io.modelcontextprotocol/serverInfo")
            writer.raw(serverInfo)
        }
        writer.endObject()
        writer.out.append("}}")
    }

    /// Writes an error response. Without a usable id, the member is omitted, or null before 2025-11-25
    /// (JRPC-11, JRPC-12).
    static func error(
        _ error: MCPError, id: ByteSlice?, to writer: inout JSONWriter, for revision: Revision
    ) {
        writer.startMessage()
        writer.out.append(#"{"jsonrpc":"2.0""#)
        if let id {
            writer.out.append(#","id":"#)
            writer.out.append(id)
        } else if !revision.has(.errorIDMayBeAbsent) {
            writer.out.append(#","id":null"#)
        }
        writer.out.append(#","error":"#)
        writer.startMessage()
        write(error, to: &writer, for: revision)
        writer.out.append("}")
    }

    /// Writes only the error object.
    static func write(_ error: MCPError, to writer: inout JSONWriter, for revision: Revision) {
        writer.beginObject()
        writer.key("code")
        writer.number(code(of: error, for: revision))
        writer.member("message", error.message)
        if let data = error.data { writer.member("data", data) }
        writer.endObject()
    }

    /// Returns an error's code in the revision: the code for a missing resource differs between
    /// revisions (DUAL-22).
    static func code(of error: MCPError, for revision: Revision) -> Int {
        error.code == MCPError.legacyResourceNotFoundCode ? revision.resourceNotFound : error.code
    }
}
