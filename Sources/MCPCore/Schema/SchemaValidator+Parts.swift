/// The keywords that apply to the elements of arrays and the members of objects.
extension SchemaValidator {
    mutating func check(
        _ elements: [JSONValue], _ rules: ArrayRules, _ node: SchemaNode, _ evaluated: inout EvaluatedParts
    ) -> Bool {
        var isValid = checkCount(elements, rules, node)
        let prefix = min(rules.parts.prefix.count, elements.count)
        for index in 0 ..< prefix {
            let schema = rules.parts.prefix[index]
            isValid = apply(schema, to: elements[index], at: .element(index)) && isValid
            guard isValid || isReporting else { return false }
            evaluated.insert(index)
        }
        if let items = rules.parts.items {
            isValid = applyEach(items, to: elements, from: prefix, nil) && isValid
            guard isValid || isReporting else { return false }
            evaluated.insertAll()
        }
        if let contains = rules.parts.contains {
            isValid = checkContains(elements, contains, rules, node, &evaluated) && isValid
        }
        if let unevaluated = rules.parts.unevaluated {
            isValid = applyEach(unevaluated, to: elements, from: 0, evaluated) && isValid
            guard isValid || isReporting else { return false }
            evaluated.insertAll()
        }
        return isValid
    }

    /// Applies a node to the elements from `start` on that were not evaluated.
    private mutating func applyEach(
        _ schema: Int, to elements: [JSONValue], from start: Int, _ evaluated: EvaluatedParts?
    ) -> Bool {
        var isValid = true
        for index in start ..< elements.count where evaluated?.contains(index) != true {
            isValid = apply(schema, to: elements[index], at: .element(index)) && isValid
            guard isValid || isReporting else { return false }
        }
        return isValid
    }

    private mutating func checkCount(_ elements: [JSONValue], _ rules: ArrayRules, _ node: SchemaNode) -> Bool
    {
        let isValid = checkCount(
            elements.count, "element", (rules.parts.minItems, "minItems"),
            (rules.parts.maxItems, "maxItems"), node)
        return rules.parts.uniqueItems ? checkUnique(elements, node) && isValid : isValid
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
        _ elements: [JSONValue], _ contains: Int, _ rules: ArrayRules, _ node: SchemaNode,
        _ evaluated: inout EvaluatedParts
    ) -> Bool {
        var found = 0
        for (index, element) in elements.enumerated() {
            var inner = EvaluatedParts(isTracking: false)
            guard fits(contains, element, &inner) else { continue }
            found += 1
            evaluated.insert(index)
        }
        return checkFound(found, rules.parts, node)
    }

    private mutating func checkFound(_ found: Int, _ rules: ArrayRules.Parts, _ node: SchemaNode) -> Bool {
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
        var isValid = checkCount(members, rules, node)
        var present = [Bool](repeating: false, count: rules.needsPresence ? rules.parts.names.count : 0)
        work -= present.count >> 4
        for place in members.members.indices {
            isValid = checkMember(place, of: members, rules, node, &present, &evaluated) && isValid
            work -= 1
            guard isValid || isReporting else { return false }
        }
        if rules.needsPresence {
            isValid = checkPresence(members, rules, present, node, &evaluated) && isValid
        }
        if let unevaluated = rules.parts.unevaluated {
            isValid = checkUnevaluated(members, unevaluated, node, evaluated) && isValid
            guard isValid || isReporting else { return false }
            evaluated.insertAll()
        }
        return isValid
    }

    private mutating func checkCount(_ members: JSONObject, _ rules: ObjectRules, _ node: SchemaNode) -> Bool
    {
        checkCount(
            members.count, "member", (rules.parts.minProperties, "minProperties"),
            (rules.parts.maxProperties, "maxProperties"), node)
    }

    private mutating func checkUnevaluated(
        _ members: JSONObject, _ schema: Int, _ node: SchemaNode, _ evaluated: EvaluatedParts
    ) -> Bool {
        var isValid = true
        for (place, member) in members.members.enumerated() where !evaluated.contains(place) {
            isValid = applyRest(schema, "unevaluatedProperties", member, node) && isValid
            guard isValid || isReporting else { return false }
        }
        return isValid
    }

    /// Applies the keywords that apply to one member.
    private mutating func checkMember(
        _ place: Int, of members: JSONObject, _ rules: ObjectRules, _ node: SchemaNode,
        _ present: inout [Bool], _ evaluated: inout EvaluatedParts
    ) -> Bool {
        let member = members.members[place]
        var isMatched = false
        var isValid = true
        if let slot = rules.slot(of: member.key) {
            if rules.needsPresence { present[slot] = true }
            if let property = rules.parts.properties[slot] {
                isMatched = true
                isValid = apply(property, to: member.value, at: .member(member.key))
            }
        }
        for (pattern, schema) in rules.parts.patterns
        where pattern.isFound(in: member.key, budget: &work) == true {
            isMatched = true
            isValid = apply(schema, to: member.value, at: .member(member.key)) && isValid
        }
        if !isMatched, let additional = rules.parts.additional {
            isMatched = true
            isValid = applyRest(additional, "additionalProperties", member, node) && isValid
        }
        if isMatched { evaluated.insert(place) }
        if let names = rules.parts.propertyNames { isValid = checkName(member.key, names, node) && isValid }
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
        return isValid || reportName(name, violations.first, node)
    }

    private mutating func reportName(
        _ name: String, _ violation: SchemaViolation?, _ node: SchemaNode
    ) -> Bool {
        let why = violation.map { ": \($0.message)" } ?? ""
        return report(
            "propertyNames", "the member name \(SchemaText.quoted(name)) is not allowed\(why)", node,
            member: name)
    }

    private mutating func checkPresence(
        _ members: JSONObject, _ rules: ObjectRules, _ present: [Bool], _ node: SchemaNode,
        _ evaluated: inout EvaluatedParts
    ) -> Bool {
        var isValid = checkRequired(rules.parts, present, node)
        guard isValid || isReporting else { return false }
        for (slot, schema) in rules.parts.dependentSchemas where present[slot] {
            isValid = apply(schema, to: .object(members), &evaluated) && isValid
        }
        return isValid
    }

    private mutating func checkRequired(
        _ parts: ObjectRules.Parts, _ present: [Bool], _ node: SchemaNode
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
        return isValid
    }
}
