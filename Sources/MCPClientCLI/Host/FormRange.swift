import MCPCore

/// The limits of a value, in words for a form.
enum FormRange {
    /// Returns a range such as `1 to 5`, `at least 3 characters`; nil without limits.
    static func text(_ lowest: JSONValue?, _ highest: JSONValue?, unit: String? = nil) -> JSONValue? {
        func number(_ value: JSONValue?) -> String? {
            guard case .number(let number)? = value, number.text.utf8.count <= 20 else { return nil }
            return number.text
        }
        let low = unit != nil && number(lowest) == "0" ? nil : number(lowest)
        let high = number(highest)
        let units = unit.map { " \($0)\((high ?? low) == "1" ? "" : "s")" } ?? ""
        switch (low, high) {
        case (let low?, let high?):
            return .string(low == high ? "\(low)\(units)" : "\(low) to \(high)\(units)")
        case (let low?, nil): return .string("at least \(low)\(units)")
        case (nil, let high?): return .string("at most \(high)\(units)")
        case (nil, nil): return nil
        }
    }

    static func joined(_ parts: String?...) -> JSONValue? {
        let parts = parts.compactMap { $0.map { ContentJSON.clipped($0, 200) } }
        return parts.isEmpty ? nil : .string(parts.joined(separator: ", "))
    }
}
