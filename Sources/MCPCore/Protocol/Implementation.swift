/// The name and version of a client or server: for display and logs, never for decisions (META-12).
public struct Implementation: RevisionedWireType {
    /// The program's name.
    public var name: String
    /// Its version.
    public var version: String
    /// A human-readable name.
    public var title: String?
    /// A description of one or two sentences (2025-11-25 and later).
    public var description: String?
    /// The URL of the project's website (2025-11-25 and later).
    public var websiteURL: String?
    /// Icons (2025-11-25 and later).
    public var icons: [Icon]

    /// Creates a description of a program.
    public init(
        name: String, version: String, title: String? = nil, description: String? = nil,
        websiteURL: String? = nil, icons: [Icon] = []
    ) {
        self.name = name
        self.version = version
        self.title = title
        self.description = description
        self.websiteURL = websiteURL
        self.icons = icons
    }

    /// Reads the value; a missing version is read as empty.
    public init(json: JSONValue) throws(JSONError) {
        let members = try MemberReader(json, as: "Implementation")
        name = try members.string("name")
        version = try members.optionalString("version") ?? ""
        title = try members.optionalString("title")
        description = try members.optionalString("description")
        websiteURL = try members.optionalString("websiteUrl")
        icons = try members.array("icons")
    }

    func write(to writer: inout JSONWriter, for revision: Revision) {
        writer.beginObject()
        writer.member("name", name)
        writer.member("version", version)
        if revision.has(.structured) { writer.member("title", title) }
        if revision.has(.icons) {
            writer.member("description", description)
            writer.member("websiteUrl", websiteURL)
            writer.icons(icons, for: revision)
        }
        writer.endObject()
    }
}
