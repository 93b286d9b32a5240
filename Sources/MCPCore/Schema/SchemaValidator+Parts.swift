/// The keywords that apply to the elements of arrays and the members of objects.
extension SchemaValidator {
    mutating func check(
        _ elements: [JSONValue], _ rules: ArrayRules.Parts, _ node: SchemaNode,
        _ evaluated: inout EvaluatedParts
    ) -> Bool {
        var isValid = checkCount(
            elements.count, "element", (rules.minItems, "minItems"), (rules.maxItems, "maxItems"), node)
        if rules.uniqueItems { isValid = checkUnique(elements, node) && isValid }
        let prefix = min(rules.prefix.count, elements.count)
        for index in 0 ..< prefix {
            isValid = apply(rules.prefix[index], to: elements[index], at: .element(index)) && isValid
            guard isValid || isReporting else { return false }
            evaluated.insert(index)
        }
        if let items = rules.items {
            for index in prefix ..< elements.count {
                isValid = apply(items, to: elements[index], at: .element(index)) && isValid
                guard isValid || isReporting else { return false }
            }
            evaluated.insertAll()
        }
        if let contains = rules.contains {
            isValid = checkContains(elements, contains, rules, node, &evaluated) && isValid
        }
        if let unevaluated = rules.unevaluated {
            for index in elements.indices where !evaluated.contains(index) {
                isValid = apply(unevaluated, to: elements[index], at: .element(index)) && isValid
                guard isValid || isReporting else { return false }
            }
            evaluated.insertAll()
        }
        return isValid
    }

    private mutating func checkCount(
        _ count: Int, _ noun: String, _ minimum: (limit: Int?, keyword: String),
        _ maximum: (limit: Int?, keyword: String), _ node: SchemaNode
    ) -> Bool {
        if let limit = minimum.limit, count < limit {
            return report(
                minimum.keyword, "has \(SchemaText.count(count, noun)), at least \(limit) required", node
            )
        }
        if let limit = maximum.limit, count > limit {
            return report(
                maximum.keyword, "has \(SchemaText.count(count, noun)), at most \(limit) are allowed", node)
        }
        return true
    }

    private mutating func checkUnique(_ elements: [JSONValue], _ node: SchemaNode) -> Bool {
        guard elements.count > 1 else { return true }
        JSONValue.array(elements).weigh(against: &work)
        guard work > 0 else { return false }
        var places = [JSONValue: Int](minimumCapacity: elements.count)
        for (index, element) in elements.enumerated() {
            if let first = places.updateValue(index, forKey: element) {
                return report(
                    "uniqueItems", "elements \(first) and \(index) are equal: \(SchemaText.brief(element))",
                    node)
            }
        }
        return true
    }

    private mutating func checkContains(
        _ elements: [JSONValue], _ contains: Int, _ rules: ArrayRules.Parts, _ node: SchemaNode,
        _ evaluated: inout EvaluatedParts
    ) -> Bool {
        var found = 0
        for (index, element) in elements.enumerated() {
            var inner = EvaluatedParts(isTracking: false)
            guard fits(contains, element, &inner) else { continue }
            found += 1
            evaluated.insert(index)
        }
        if let maximum = rules.maxContains, found > maximum {
            return report(
                "maxContains",
                "has \(SchemaText.count(found, "matching element")), at most \(maximum) are allowed",
                node)
        }
        let minimum = rules.minContains ?? 1
        guard found < minimum else { return true }
        return report(
            rules.minContains == nil ? "contains" : "minContains",
            "has \(SchemaText.count(found, "matching element")), at least \(minimum) required", node)
    }

    // MARK: Objects

    mutating func check(
        _ members: JSONObject, _ rules: ObjectRules, _ node: SchemaNode, _ evaluated: inout EvaluatedParts
    ) -> Bool {
        let parts = rules.parts
        var isValid = checkCount(
            members.count, "member", (parts.minProperties, "minProperties"),
            (parts.maxProperties, "maxProperties"), node)
        var present = [Bool](repeating: false, count: rules.needsPresence ? parts.names.count : 0)
        work -= present.count >> 4
        for (place, member) in members.members.enumerated() {
            var isMatched = false
            if let slot = rules.slot(of: member.key) {
                if rules.needsPresence { present[slot] = true }
                if let property = parts.properties[slot] {
                    isMatched = true
                    isValid = apply(property, to: member.value, at: .member(member.key)) && isValid
                }
            }
            for (pattern, schema) in parts.patterns
            where pattern.isFound(in: member.key, budget: &work) == true {
                isMatched = true
                isValid = apply(schema, to: member.value, at: .member(member.key)) && isValid
            }
            if !isMatched, let additional = parts.additional {
                isMatched = true
                isValid = applyRest(additional, "additionalProperties", member, node) && isValid
            }
            if isMatched { evaluated.insert(place) }
            if let names = parts.propertyNames { isValid = checkName(member.key, names, node) && isValid }
            work -= 1
            guard isValid || isReporting else { return false }
        }
        if rules.needsPresence {
            isValid = checkPresence(members, parts, present, node, &evaluated) && isValid
        }
        if let unevaluated = parts.unevaluated {
            for (place, member) in members.members.enumerated() where !evaluated.contains(place) {
                isValid = applyRest(unevaluated, "unevaluatedProperties", member, node) && isValid
                guard isValid || isReporting else { return false }
            }
            evaluated.insertAll()
        }
        return isValid
    }

    /// Applies the schema for members that no other keyword covers.
    private mutating func applyRest(
        _ number: Int, _ keyword: String, _ member: JSONObject.Member, _ node: SchemaNode
    ) -> Bool {
        guard program.nodes[number].verdict == false else {
            return apply(number, to: member.value, at: .member(member.key))
        }
        return report(keyword, "unexpected member \(SchemaText.quoted(member.key))", node, member: member.key)
    }

    private mutating func checkName(_ name: String, _ schema: Int, _ node: SchemaNode) -> Bool {
        var evaluated = EvaluatedParts(isTracking: false)
        guard isReporting else { return apply(schema, to: .string(name), &evaluated) }
        let (isValid, violations) = attempt(schema, .string(name), &evaluated)
        guard !isValid else { return true }
        let why = violations.first.map { ": \($0.message)" } ?? ""
        return report(
            "propertyNames", "the member name \(SchemaText.quoted(name)) is not allowed\(why)", node,
            member: name)
    }

    private mutating func checkPresence(
        _ members: JSONObject, _ parts: ObjectRules.Parts, _ present: [Bool], _ node: SchemaNode,
        _ evaluated: inout EvaluatedParts
    ) -> Bool {
        var isValid = true
        for slot in parts.required where !present[slot] {
            guard isReporting else { return false }
            let name = parts.names[slot]
            isValid = report(
                "required", "required member \(SchemaText.quoted(name)) is missing", node, member: name)
        }
        for (slot, needed) in parts.dependentRequired where present[slot] {
            work -= needed.count >> 4
            for other in needed where !present[other] {
                guard isReporting else { return false }
                let name = parts.names[other]
                let cause = SchemaText.quoted(parts.names[slot])
                isValid = report(
                    "dependentRequired", "member \(SchemaText.quoted(name)) is missing: \(cause) requires it",
                    node,
                    member: name)
            }
        }
        for (slot, schema) in parts.dependentSchemas where present[slot] {
            isValid = apply(schema, to: .object(members), &evaluated) && isValid
        }
        return isValid
    }
}
