@testable import MCPCore

/// The text of docs/json.md.
enum JSONDocument {
    static var text: String {
        intro + JSONDecisions.sections.map(section).joined(separator: "\n")
    }

    private static func section(_ section: JSONDecisions.Section) -> String {
        """
        ### \(section.title)

        | id | text | decision | why |
        |---|---|---|---|
        \(section.rows.map(line).joined(separator: "\n"))

        """
    }

    private static func line(_ row: JSONDecision) -> String {
        let decision =
            switch row.verdict {
            case .accept(nil): "accepted"
            case .accept(let written?): "accepted, written as \(code(Array(written.utf8)))"
            case .reject(let reason): "refused: " + name(reason)
            }
        return "| \(row.id) | \(row.shown ?? code(row.input)) | \(decision) | \(row.why) |"
    }

    /// The case without what it carries.
    private static func name(_ reason: JSONError.Reason) -> String {
        let text = "\(reason)"
        return String(text.prefix { $0 != "(" })
    }

    /// Bytes as one line of code: what cannot be seen as `\xNN`, and what would end the table's cell as its
    /// entity.
    private static func code(_ bytes: [UInt8]) -> String {
        guard !bytes.isEmpty else { return "(nothing)" }
        var text = ""
        let valid = String(validating: bytes, as: UTF8.self)
        if let valid {
            for scalar in valid.unicodeScalars {
                let isVisible =
                    scalar.value > 0x20 && scalar.value < 0x7F
                    || scalar.value > 0xA0 && scalar.properties.generalCategory != .format
                        && scalar.properties.generalCategory != .nonspacingMark
                        && scalar.properties.generalCategory != .unassigned
                        && scalar.properties.generalCategory != .privateUse
                        && scalar.properties.generalCategory != .lineSeparator
                        && scalar.properties.generalCategory != .paragraphSeparator
                if isVisible || scalar == " " {
                    text += String(scalar)
                } else {
                    for byte in String(scalar).utf8 { text += hex(byte) }
                }
            }
        } else {
            for byte in bytes {
                text += byte > 0x20 && byte < 0x7F ? String(Unicode.Scalar(byte)) : hex(byte)
            }
        }
        return text.contains("`") ? "`` \(text) ``" : "`\(text)`"
    }

    private static func hex(_ byte: UInt8) -> String {
        "\\x" + (byte < 16 ? "0" : "") + String(byte, radix: 16, uppercase: true)
    }

    private static let intro = #"""
        # JSON

        MCPCore reads and writes JSON itself, strictly after RFC 8259: the same text is accepted or refused
        everywhere, on standard input, over HTTP, in tool arguments and in results. This page is written by
        the tests from the table that they run.

        ## Use

        `RawJSON` is one validated value as its bytes, without a copy: what a tool gets as its arguments.
        `JSONValue` is a tree, `JSONObject` the ordered members of an object, `JSONNumber` a number with its
        exact text.

        ```swift
        struct Forecast: Codable { var place: String; var days: Int }

        let arguments = try RawJSON(validating: #"{"place":"Köln","days":3.0}"#)
        arguments["place"]?.string                       // "Köln"
        try arguments.decode(Forecast.self).days         // 3

        let answer: JSONValue = ["sunny": true, "degrees": [18, 21.5, nil]]
        answer.serialized()                              // {"sunny":true,"degrees":[18,21.5,null]}
        answer["degrees"]?[1]?.doubleValue               // 21.5
        ```

        `decode` reads any `Decodable` directly from the bytes, `RawJSON(encoding:)` and
        `JSONValue(encoding:)` take any `Encodable`. An error is a `JSONError` and says where and why, fit to
        be shown to whoever sent the text: `/days: expected an integer, found a string`. A single member of a
        `RawJSON` costs one pass over its object; who needs many decodes a type or takes `.value`, the tree.
        `JSONWriter` writes text piece by piece.

        ## Limits

        | limit | default | beyond it |
        |---|---|---|
        | depth of containers (`JSONLimits.maxDepth`) | 64, at most 128 | `depthExceeded`, found at once |
        | length of a text (`JSONLimits.maxBytes`) | none; the transports limit messages | `tooLarge` |
        | strings, names, numbers, members | none of their own | |

        Reading takes time linear in the length of the text. On writing, containers nested deeper than 128
        levels are an error of `encode`; `JSONValue.serialized()` writes `null` in their place.

        ## Repeated names

        Of members with the same name the last value counts, at the place of the first. Names are the same if
        their code points are, however they are escaped; canonically equivalent spellings are different names.

        ## Numbers

        A number keeps its text: `1.0`, `1e400` and integers of any length pass through unchanged. Numbers are
        equal if their values are, exactly: `1`, `1.0` and `10e-1`. As an integer, `1.0` and `1e2` are 1 and
        100; `1.5` and what does not fit is refused (`int64` is nil). As a `Double` the nearest one counts;
        beyond its range `decode` refuses and `double` is infinite. Written doubles have their shortest form,
        `3` for 3.0. Infinities and NaN are an error of `encode` and `null` in `JSONValue(_:)` and
        `JSONWriter.number(_:)`.

        ## Decisions

        In the texts, `\xNN` stands for one byte.


        """#
}
