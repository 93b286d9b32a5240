extension SchemaIndex {
    /// Calls `body` with each member of `schema` that is a schema by its keyword, and the pointer to it.
    ///
    /// What stands under other keywords (`enum`, `const`, unknown ones) is no schema, even if it looks like
    /// one.
    static func forEachSubschema(
        of schema: JSONObject, _ body: (_ path: String, JSONValue) throws(SchemaError) -> Void
    ) throws(SchemaError) {
        for (keyword, value) in schema {
            switch keyword {
            case "additionalItems", "additionalProperties", "contains", "contentSchema", "else", "if", "not",
                "propertyNames", "then", "unevaluatedItems", "unevaluatedProperties":
                try body("/" + keyword, value)
            case "allOf", "anyOf", "items", "oneOf", "prefixItems":
                guard case .array(let elements) = value else {
                    if keyword == "items" { try body("/items", value) }
                    continue
                }
                for (index, element) in elements.enumerated() { try body("/\(keyword)/\(index)", element) }
            case "$defs", "definitions", "dependencies", "dependentSchemas", "patternProperties",
                "properties":
                guard case .object(let members) = value else { continue }
                for (name, member) in members {
                    try body("/\(keyword)/" + JSONPointer.escaped(name), member)
                }
            default: continue
            }
        }
    }
}
