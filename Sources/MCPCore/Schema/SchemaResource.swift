/// A schema with a URI of its own: a whole document, or a part that has an `$id` (2020-12 core 4.3.5).
struct SchemaResource {
    /// The absolute URI without fragment; empty for a document that has none.
    let uri: SchemaURI
    /// Which document it lies in, and where.
    let document: Int
    let pointer: String
    let value: JSONValue
    let dialect: SchemaDialect
    let vocabularies: SchemaVocabularies
    /// Names of `$anchor` and `$dynamicAnchor`.
    var anchors: [String: SchemaPlace] = [:]
    /// Names of `$dynamicAnchor` alone.
    var dynamicAnchors: [String: SchemaPlace] = [:]
}

/// A schema inside a document.
struct SchemaPlace {
    let resource: Int
    /// From the root of the document.
    let pointer: String
    let value: JSONValue
}
