import MCPCore

/// A form for the page, made from a JSON schema; anything that it does not cover becomes a field for JSON.
///
/// The page only draws the form. Whether the arguments are valid is decided by the schema itself, before a
/// call.
struct FormSpec {
    private let root: JSONValue
    private let use: Use
    /// The parts and choices that the form may have, whatever its own limits.
    private let room: Int
    private var nodes = 0
    private var choices = 0

    /// What is entered in a form.
    enum Use { case arguments, answer }

    /// The depth and the number of nodes beyond which a schema, which may be recursive, becomes a field for
    /// JSON.
    static let maxDepth = 8
    static let maxNodes = 400
    /// The number of choices beyond which those of a field are entered as JSON.
    static let maxChoices = 4_000
    /// The longest text that is entered in a field of one line.
    private static let maxLine = 100

    /// Returns the form of a schema, filled in with `value` or with the schema's defaults.
    static func json(
        for schema: JSONValue, value: JSONValue? = nil, use: Use = .arguments, room: Int = .max
    ) -> JSONValue {
        var maker = FormSpec(root: schema, use: use, room: room)
        let place = Place(path: "", value: value, isRequired: true, depth: 0)
        var made = maker.part(schema, place)
        // What is entered is always an object, even if the schema leaves that open.
        if made["kind"] == "json" { made = maker.object([:], place) }
        if made["members"]?.arrayValue?.isEmpty == true { made["isEmpty"] = true }
        // What is entered as JSON is not kept where this is found: anywhere, if a field is for a secret.
        if use == .arguments { made["secrets"] = .string(hasSecret(schema) ? "" : SecretWords.pattern) }
        return .object(made)
    }

    /// Whether any part of a schema is for a secret, also one that has no field of its own in the form.
    private static func hasSecret(_ schema: JSONValue) -> Bool {
        switch schema {
        case .array(let elements): elements.contains { hasSecret($0) }
        case .object(let members):
            FormField("", schema).mayBeSecret
                || members.contains { hasSecret($0.value) }
                || (schema["properties"]?.objectValue ?? [:]).contains { FormField($0.key, [:]).mayBeSecret }
        default: false
        }
    }

    private init(root: JSONValue, use: Use, room: Int) {
        (self.root, self.use, self.room) = (root, use, room)
    }

    /// Returns the number of parts and choices of a form.
    static func weight(of form: JSONValue) -> Int {
        let inner = ["members", "items", "variants"].flatMap { form[$0]?.arrayValue ?? [] }
        let parts = inner + ["item", "more"].compactMap { form[$0] }
        let choices = form["options"]?.arrayValue?.count ?? 0
        return parts.reduce(1 + choices) { $0 + weight(of: $1) }
    }

    /// The location of a part.
    private struct Place {
        var path: String
        var value: JSONValue?
        var isRequired: Bool
        var depth: Int
        /// Whether all that is entered there may be secret.
        var isSecret = false

        func member(_ name: String, _ value: JSONValue?, isRequired: Bool) -> Place {
            let token = name.split(separator: "~", omittingEmptySubsequences: false).joined(separator: "~0")
                .split(separator: "/", omittingEmptySubsequences: false).joined(separator: "~1")
            return Place(
                path: "\(path)/\(token)", value: value, isRequired: isRequired, depth: depth + 1,
                isSecret: isSecret)
        }
    }

    // MARK: Parts

    private mutating func part(_ schema: JSONValue, _ place: Place) -> JSONObject {
        nodes += 1
        let schema = resolved(schema)
        var place = place
        if FormField("", schema).mayBeSecret { place.isSecret = true }
        if place.value == nil { place.value = schema["default"] }
        if let fixed = schema["const"] {
            var part = self.part("fixed", place, value: fixed)
            part["shown"] = Self.shown(Self.word(fixed))
            return part
        }
        if let values = schema["enum"]?.arrayValue {
            guard hasRoom(forChoices: values.count) else { return self.part("json", place) }
            let names = schema["enumNames"]?.arrayValue?.map(\.stringValue) ?? []
            return choice(
                values.enumerated().map { ($1, names.indices.contains($0) ? names[$0] : nil) }, place)
        }
        if let variants = schema["oneOf"]?.arrayValue ?? schema["anyOf"]?.arrayValue, !variants.isEmpty {
            let constants = variants.compactMap { variant in
                variant["const"].map { ($0, variant["title"]?.stringValue) }
            }
            if constants.count == variants.count, hasRoom(forChoices: constants.count) {
                return choice(constants, place)
            }
            if isDeep(place) || !hasRoom(for: variants.count) { return self.part("json", place) }
            let others = variants.filter { Self.type(of: resolved($0)) != "null" }
            // What may be left out needs no null, unless something else is meant by that.
            if !place.isRequired, others.count == 1, schema["default"] ?? .null == .null {
                var inner = place
                inner.depth += 1
                if inner.value == .null { inner.value = nil }
                return self.part(Self.merged(schema, resolved(others[0])), inner)
            }
            return either(variants, in: schema, place)
        }
        return typed(schema, place)
    }

    private mutating func typed(_ schema: JSONValue, _ place: Place) -> JSONObject {
        switch Self.type(of: schema) {
        case "boolean":
            if place.isRequired { return part("check", place, value: place.value) }
            return choice([(true, "true"), (false, "false")], place)
        case "integer", "number":
            var part = part("number", place, value: place.value)
            part["min"] = schema["minimum"]
            part["max"] = schema["maximum"]
            part["step"] = schema["multipleOf"] ?? (Self.type(of: schema) == "integer" ? 1 : "any")
            part["range"] = FormRange.text(schema["minimum"], schema["maximum"])
            return part
        case "string": return text(schema, place)
        case "null":
            var part = part("fixed", place, value: .null)
            part["shown"] = "null"
            return part
        case "array"
        where !isDeep(place) && schema["prefixItems"] == nil
            && hasRoom(for: place.value?.arrayValue?.count ?? 0):
            return list(schema, place)
        case "object" where !isDeep(place) && hasRoom(for: schema["properties"]?.objectValue?.count ?? 0):
            return object(schema, place)
        default: return part("json", place)
        }
    }

    /// Returns the members that every part has.
    private func part(_ kind: String, _ place: Place, value: JSONValue? = nil) -> JSONObject {
        var part: JSONObject = ["kind": .string(kind), "path": .string(place.path)]
        if place.isRequired { part["required"] = true }
        // A part that always has a value needs no mark.
        if place.isRequired, !["check", "fixed", "object", "list"].contains(kind) { part["needed"] = true }
        if place.isSecret { part["isSecret"] = true }
        if let value { part["value"] = value }
        // As text, because it is edited in the form in which it is read.
        if kind == "json", let value = place.value {
            part["value"] = .string(DenseText.escaped(value.serialized(pretty: true)))
        }
        return part
    }

    private func text(_ schema: JSONValue, _ place: Place) -> JSONObject {
        // In a field, all of it would be drawn as it is.
        if let text = place.value?.stringValue, DenseText.isDense(text) { return part("json", place) }
        let types = ["date": "date", "email": "email", "uri": "url"]
        let format = schema["format"]?.stringValue ?? ""
        // What has a format, a pattern or a small length fits into one line.
        let isShort =
            schema["pattern"] != nil || schema["maxLength"]?.intValue.map { $0 <= Self.maxLine } ?? false
        let isLine = types[format] != nil || isShort && place.value?.stringValue?.contains("\n") != true
        var part = part(isLine ? "line" : "text", place, value: place.value)
        part["type"] = types[format].map { .string($0) }
        part["maxLength"] = schema["maxLength"]
        let length = FormRange.text(schema["minLength"], schema["maxLength"], unit: "character")
        let pattern = schema["pattern"]?.stringValue.map { "matches \($0)" }
        part["range"] = FormRange.joined(
            length?.stringValue, pattern.map { Self.named($0, HostEventWriter.maxName) })
        let example = format == "date-time" ? "2026-01-31T12:00:00Z" : schema["examples"]?[0]?.stringValue
        part["hint"] = example.map(Self.shown)
        return part
    }

    private mutating func choice(
        _ options: [(value: JSONValue, label: String?)], _ place: Place
    ) -> JSONObject {
        choices += options.count
        var part = part("choice", place)
        part["options"] = .array(
            options.map { ["value": $0.value, "label": Self.shown($0.label ?? Self.word($0.value))] })
        let selected = options.firstIndex { $0.value == place.value }
        part["selected"] = selected.map { JSONValue($0) }
        return part
    }

    private mutating func list(_ schema: JSONValue, _ place: Place) -> JSONObject {
        var part = part("list", place)
        let items = schema["items"] ?? [:]
        let none = place.member("-", nil, isRequired: true)
        part["isGroup"] = true
        part["range"] = FormRange.text(schema["minItems"], schema["maxItems"], unit: "item")
        part["item"] = .object(self.part(items, none))
        let count = min(schema["minItems"]?.intValue ?? 0, 10)
        let values: [JSONValue?] = place.value?.arrayValue ?? Array(repeating: nil, count: max(0, count))
        part["items"] = .array(
            values.enumerated().map { index, value in
                .object(self.part(items, place.member("\(index)", value, isRequired: true)))
            })
        return part
    }

    private mutating func object(_ schema: JSONValue, _ place: Place) -> JSONObject {
        var part = part("object", place)
        let needed = schema["required"]?.arrayValue ?? []
        let properties = schema["properties"]?.objectValue ?? [:]
        var members: [JSONValue] = []
        for (name, property) in properties {
            let isRequired = needed.contains(.string(name))
            members.append(
                .object(
                    labelled(
                        name, property, place.member(name, place.value?[name], isRequired: isRequired))))
        }
        part["members"] = .array(members)
        part["isGroup"] = true
        // Members that the schema does not name are kept, and can be given where the schema allows them.
        let others = JSONObject(
            (place.value?.objectValue ?? [:]).filter { properties[$0.key] == nil }
                .map { (key: $0.key, value: $0.value) })
        let allows = schema["additionalProperties"]
        let isOpen =
            allows?.objectValue != nil || allows == true || schema["properties"] == nil && allows != false
        if !others.isEmpty || isOpen {
            var rest = place.member("", nil, isRequired: false)
            if !others.isEmpty { rest.value = .object(others) }
            var more = self.part("json", rest)
            more["label"] = "More members (JSON)"
            if properties.isEmpty {
                let whole: JSONValue = use == .answer ? "The answer as JSON" : "Other arguments (JSON)"
                more["label"] = place.depth > 0 ? "Members (JSON)" : whole
            }
            // An answer that has no other field is not hidden.
            more["folds"] = .bool(others.isEmpty && (use == .arguments || !properties.isEmpty))
            part["more"] = .object(more)
        }
        return part
    }

    private mutating func labelled(_ name: String, _ schema: JSONValue, _ place: Place) -> JSONObject {
        var place = place
        if FormField(name, [:]).mayBeSecret { place.isSecret = true }
        var part = part(schema, place)
        let schema = resolved(schema)
        part["name"] = .string(name)
        // A server chooses the title; what is sent is the name.
        let title = schema["title"]?.stringValue ?? name
        let isSame = title.lowercased() == name.lowercased()
        // Each of them has a limit of its own: no title moves the name out of what is shown.
        let parts = [title, name].map { Self.named($0, HostEventWriter.maxName) }
        part["label"] = .string(isSame ? parts[0] : "\(parts[0]) (\(parts[1]))")
        part["description"] = schema["description"]?.stringValue.map {
            .string(Self.named($0, HostEventWriter.maxLine))
        }
        // What need not be given does not take room until it is wanted.
        let isLarge = part["kind"] == "object" || part["kind"] == "either"
        if isLarge, !place.isRequired, place.value == nil, schema["default"] == nil { part["folds"] = true }
        return part
    }

    private mutating func either(_ variants: [JSONValue], in schema: JSONValue, _ place: Place) -> JSONObject
    {
        var part = part("either", place)
        part["isGroup"] = true
        var made: [JSONValue] = []
        var selected: Int?
        for (index, variant) in variants.enumerated() {
            let merged = Self.merged(schema, resolved(variant))
            let fits = place.value.map { value in
                (try? CompiledSchema(merged))?.validate(value).isEmpty ?? false
            }
            if fits == true, selected == nil { selected = index }
            var inner = place
            inner.depth += 1
            if fits == false { inner.value = nil }
            var one = self.part(merged, inner)
            one["label"] = Self.shown(
                merged["title"]?.stringValue ?? Self.type(of: merged) ?? "kind \(index + 1)")
            made.append(.object(one))
        }
        part["variants"] = .array(made)
        part["selected"] = selected.map { JSONValue($0) } ?? (place.isRequired ? 0 : .none)
        return part
    }

    // MARK: Schemas

    private func isDeep(_ place: Place) -> Bool { place.depth > Self.maxDepth || nodes > Self.maxNodes }

    /// Whether this many more parts are allowed.
    private func hasRoom(for count: Int) -> Bool {
        nodes + count <= Self.maxNodes && count <= room - nodes - choices
    }

    private func hasRoom(forChoices count: Int) -> Bool {
        choices + count <= Self.maxChoices && count <= room - nodes - choices
    }

    /// Returns the first type that is not null.
    private static func type(of schema: JSONValue) -> String? {
        if let type = schema["type"]?.stringValue { return type }
        if let types = schema["type"]?.arrayValue {
            return types.compactMap(\.stringValue).first { $0 != "null" }
        }
        return schema["properties"] == nil ? nil : "object"
    }

    /// Returns a variant merged with what applies to all variants.
    private static func merged(_ schema: JSONValue, _ variant: JSONValue) -> JSONValue {
        var all = schema.objectValue ?? [:]
        for name in ["oneOf", "anyOf", "default", "title", "description"] { all[name] = nil }
        for (name, value) in variant.objectValue ?? [:] {
            if name == "properties", let own = all[name]?.objectValue, let more = value.objectValue {
                var properties = own
                for (key, property) in more { properties[key] = property }
                all[name] = .object(properties)
            } else if name == "required", let own = all[name]?.arrayValue, let more = value.arrayValue {
                all[name] = .array(own + more)
            } else {
                all[name] = value
            }
        }
        return .object(all)
    }

    /// Returns the schema that a `$ref` into the same document refers to, merged with the members beside the
    /// `$ref`.
    private func resolved(_ schema: JSONValue) -> JSONValue {
        var schema = schema
        for _ in 0 ..< Self.maxDepth {
            guard let reference = schema["$ref"]?.stringValue, reference.hasPrefix("#/") else { break }
            var target: JSONValue? = root
            for token in reference.dropFirst(2).split(separator: "/", omittingEmptySubsequences: false) {
                let name = Self.unescaped(token)
                target = target?[name]
            }
            guard let target else { break }
            var object = target.objectValue ?? [:]
            for (name, value) in schema.objectValue ?? [:] where name != "$ref" { object[name] = value }
            schema = .object(object)
        }
        return schema
    }

    private static func unescaped(_ token: Substring) -> String {
        token.split(separator: "~1", omittingEmptySubsequences: false).joined(separator: "/")
            .split(separator: "~0", omittingEmptySubsequences: false).joined(separator: "~")
    }

    /// Returns a server's label, cut at a limit, with invisible characters named.
    private static func shown(_ text: String) -> JSONValue { .string(named(text, HostEventWriter.maxName)) }

    private static func named(_ text: String, _ limit: Int) -> String {
        VisibleText.naming(ContentJSON.clipped(text, limit))
    }

    private static func word(_ value: JSONValue) -> String { value.stringValue ?? value.serialized() }
}
