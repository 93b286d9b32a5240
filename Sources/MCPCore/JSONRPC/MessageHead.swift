/// The positions of the parts of one JSON-RPC message, found in a single validating pass.
///
/// Offsets count from the start of the scanned bytes. Nothing is copied and nothing is allocated.
struct MessageHead: Sendable {
    /// A part of the message; `isPresent` is false if the member is absent.
    struct Part: Sendable {
        var start: Int32 = -1
        var end: Int32 = -1

        var isPresent: Bool { @inline(__always) get { start >= 0 } }
        // Small: the end of a part that is present is after its start.
        var count: Int { @inline(__always) get { Int(end - start) } }
        // Small: converted from narrower numbers.
        var range: Range<Int> { @inline(__always) get { Int(start) ..< Int(end) } }

        @inline(__always) init() {}
        @inline(__always) init(_ start: Int, _ end: Int) {
            self.start = Int32(truncatingIfNeeded: start)
            self.end = Int32(truncatingIfNeeded: end)
        }
    }

    enum Kind: Sendable {
        case request
        case notification
        case response
        /// An array, which is a batch in revisions that support batches.
        case batch
        /// Valid JSON that is not a message; `defect` contains the reason.
        case invalid
    }

    /// The reason why the JSON is not a message.
    enum Defect: Sendable {
        case none, notAnObject, duplicateMember, wrongVersion, badID, badMethod, badParams
        case neitherRequestNorResponse, badResponse

        var text: String {
            switch self {
            case .none: ""
            case .notAnObject: "a message must be a JSON object"
            case .duplicateMember: "duplicate member in the message"
            case .wrongVersion: "\"jsonrpc\" must be \"2.0\""
            case .badID: "\"id\" must be a string of at most 256 bytes or a 64-bit integer"
            case .badMethod: "\"method\" must be a string"
            case .badParams: "\"params\" must be an object"
            case .neitherRequestNorResponse: "a message must have \"method\", \"result\" or \"error\""
            case .badResponse: "a response must have \"id\" and either \"result\" or \"error\""
            }
        }
    }

    var kind = Kind.invalid
    var defect = Defect.none
    /// The id's JSON text; absent if there is none or it is not usable.
    var id = Part()
    /// The method's JSON text, with its quotes.
    var method = Part()
    var params = Part()
    var result = Part()
    var error = Part()

    // The JSON text of the members of `params` and `params._meta` that routing needs.
    var meta = Part()
    var name = Part()
    var uri = Part()
    var arguments = Part()
    var metaVersion = Part()
    var metaCapabilities = Part()
    var progressToken = Part()
    var metaLogLevel = Part()

    @inline(__always)
    mutating func forgetMeta() {
        guard meta.isPresent else { return }
        meta = Part()
        metaVersion = Part()
        metaCapabilities = Part()
        progressToken = Part()
        metaLogLevel = Part()
    }
}

/// A message together with its bytes.
struct Message: Sendable {
    let bytes: ByteSlice
    let head: MessageHead

    @inline(__always)
    func raw(_ part: MessageHead.Part) -> RawJSON? {
        part.isPresent ? RawJSON(unchecked: bytes[part.range]) : nil
    }

    /// The id as a value that can be stored.
    var id: RequestID? { raw(head.id).flatMap(RequestID.init) }

    /// The name of the method; empty if there is none.
    var method: String { raw(head.method)?.string ?? "" }

    var params: RawJSON? { raw(head.params) }
    var meta: RawJSON? { raw(head.meta) }
}
