/// One piece of content in a tool result or prompt message (server/tools "Tool Result").
///
/// The set of kinds grows with the protocol, so this is a struct: check `type`, or create a block with a
/// factory method.
public struct ContentBlock: RevisionedWireType {
    /// The kind of a block.
    public struct Kind: RawRepresentable, Sendable, Hashable {
        /// The kind as sent on the wire.
        public let rawValue: String
        /// Creates a kind from its raw value.
        public init(rawValue: String) { self.rawValue = rawValue }
        /// Text.
        public static let text = Kind(rawValue: "text")
        /// An image.
        public static let image = Kind(rawValue: "image")
        /// Audio (2025-03-26 and later).
        public static let audio = Kind(rawValue: "audio")
        /// A link to a resource (2025-06-18 and later).
        public static let resourceLink = Kind(rawValue: "resource_link")
        /// The contents of a resource.
        public static let resource = Kind(rawValue: "resource")
        /// A model's request to use a tool, in sampling messages (2025-11-25 and later).
        public static let toolUse = Kind(rawValue: "tool_use")
        /// The result of a tool use, in sampling messages (2025-11-25 and later).
        public static let toolResult = Kind(rawValue: "tool_result")
    }

    /// The kind.
    public var type: Kind
    /// The text of a text block.
    public var text: String?
    /// The base64-encoded data of an image or audio block.
    public var data: String?
    /// The media type of an image or audio block.
    public var mimeType: String?
    /// The contents of an embedded resource.
    public var resource: ResourceContents?
    /// The resource that a link refers to.
    public var link: Resource?
    /// The request of a tool-use block.
    public var toolUse: ToolUse?
    /// The result of a tool-result block.
    public var toolResult: ToolUseResult? {
        get { toolResultBox.first }
        set { toolResultBox = newValue.map { [$0] } ?? [] }
    }
    /// A result contains blocks itself, which a struct can hold only in an array.
    private var toolResultBox: [ToolUseResult] = []
    /// Annotations.
    public var annotations: Annotations?
    /// Additional metadata (`_meta`).
    public var meta: JSONObject?
    /// A block of a kind that this library does not know, as received.
    public var unknown: JSONObject?

    init(type: Kind) { self.type = type }

    /// Creates a text block.
    public static func text(_ text: String, annotations: Annotations? = nil) -> ContentBlock {
        var block = ContentBlock(type: .text)
        block.text = text
        block.annotations = annotations
        return block
    }

    /// Creates an image block from the image's bytes.
    public static func image(_ bytes: [UInt8], mimeType: String) -> ContentBlock {
        media(.image, bytes, mimeType)
    }

    /// Creates an audio block from the audio's bytes. For revisions before 2025-03-26 it is sent as a text
    /// that describes it.
    public static func audio(_ bytes: [UInt8], mimeType: String) -> ContentBlock {
        media(.audio, bytes, mimeType)
    }

    private static func media(_ type: Kind, _ bytes: [UInt8], _ mimeType: String) -> ContentBlock {
        var block = ContentBlock(type: type)
        block.data = Base64.encode(bytes)
        block.mimeType = mimeType
        return block
    }

    /// Creates a block with the contents of a resource.
    public static func resource(_ contents: ResourceContents) -> ContentBlock {
        var block = ContentBlock(type: .resource)
        block.resource = contents
        return block
    }

    /// Creates a block with a link to a resource. For revisions before 2025-06-18 it is sent as text with the
    /// URI.
    public static func resourceLink(_ resource: Resource) -> ContentBlock {
        var block = ContentBlock(type: .resourceLink)
        block.link = resource
        return block
    }

    /// Creates a block with a model's request to use a tool.
    public static func toolUse(_ use: ToolUse) -> ContentBlock {
        var block = ContentBlock(type: .toolUse)
        block.toolUse = use
        return block
    }

    /// Creates a block with the result of a tool use, for a model.
    public static func toolResult(_ result: ToolUseResult) -> ContentBlock {
        var block = ContentBlock(type: .toolResult)
        block.toolResult = result
        return block
    }

    /// The bytes of an image or audio block, or nil.
    public var decodedData: [UInt8]? { data.flatMap { Base64.decode($0) } }

    /// Reads the value; a block of an unknown kind is preserved as a whole in `unknown`.
    public init(json: JSONValue) throws(JSONError) {
        let members = try MemberReader(json, as: "ContentBlock")
        type = Kind(rawValue: try members.string("type"))
        annotations = try members.optional("annotations")
        meta = try members.optionalObject("_meta")
        switch type {
        case .text: text = try members.string("text")
        case .image, .audio:
            data = try members.string("data")
            mimeType = try members.string("mimeType")
        case .resource:
            resource = try members.optional("resource")
            if resource == nil { throw JSONError(.missingMember("resource"), path: "") }
        case .resourceLink: link = try Resource(json: json)
        case .toolUse: toolUse = try ToolUse(members)
        case .toolResult: toolResult = try ToolUseResult(members)
        default: unknown = members.object
        }
    }

    /// Writes the value in the form that the revision defines.
    package func write(to writer: inout JSONWriter, for revision: Revision) {
        if let unknown { return writer.value(.object(unknown)) }
        if type == .audio, !revision.has(.annotations) {
            return ContentBlock.text("[audio, \(mimeType ?? "unknown type")]").write(
                to: &writer, for: revision)
        }
        if type == .resourceLink, !revision.has(.structured) {
            return ContentBlock.text(link?.uri ?? "").write(to: &writer, for: revision)
        }
        writer.beginObject()
        writer.member("type", type.rawValue)
        switch type {
        case .text: writer.member("text", text ?? "")
        case .image, .audio:
            writer.member("data", data ?? "")
            writer.member("mimeType", mimeType ?? "application/octet-stream")
        case .resource:
            writer.key("resource")
            (resource ?? ResourceContents(uri: "")).write(to: &writer, for: revision)
        case .resourceLink: link?.writeMembers(to: &writer, for: revision)
        case .toolUse: toolUse?.writeMembers(to: &writer)
        case .toolResult: toolResult?.writeMembers(to: &writer, for: revision)
        default: break
        }
        if let annotations, type != .resourceLink || link?.annotations == nil {
            writer.key("annotations")
            annotations.write(to: &writer, for: revision)
        }
        if type != .resourceLink || link?.meta == nil { writer.meta(meta, for: revision) }
        writer.endObject()
    }
}
