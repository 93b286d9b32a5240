import Foundation
import TestSupport
import Testing

@testable import MCPCore

@Suite struct JSONDecoderTests {
    struct Numbers: Codable, Equatable {
        var a: Int8, b: Int16, c: Int32, d: Int64, e: UInt8, f: UInt16, g: UInt32, h: UInt64, i: UInt, j: Int
        var k: Float, l: Double, m: Bool, n: String
    }
    enum Colour: String, Codable { case red, green }
    enum Shape: Codable, Equatable { case circle(radius: Double), square(side: Int), nothing }
    struct Inner: Codable, Equatable { var list: [Int], maybe: String?, colour: Colour }
    struct Outer: Codable, Equatable {
        var inner: Inner, table: [String: Inner], pairs: [[Double?]], shape: [Shape]
    }

    private func error<T: Decodable>(_ text: String, _: T.Type) throws -> String {
        let raw = try RawJSON(validating: text)
        return try #require(#expect(throws: JSONError.self) { try raw.decode(T.self) }).description
    }

    @Test func allScalarTypes() throws {
        let numbers = Numbers(
            a: .min, b: .max, c: .min, d: .max, e: .max, f: .max, g: .max, h: .max, i: .max, j: .min, k: 0.1,
            l: -2.5e-10,
            m: true, n: "é\n")
        let raw = try RawJSON(encoding: numbers)
        #expect(try raw.decode() == numbers)
        #expect(try raw.value.decode() == numbers)
        #expect(try JSONDecoder().decode(Numbers.self, from: Data(raw.bytes)) == numbers)
        #expect(try RawJSON(validating: ByteSlice(JSONEncoder().encode(numbers))).decode() == numbers)
    }

    @Test func nestedTypes() throws {
        let inner = Inner(list: [1, 2, 3], maybe: nil, colour: .green)
        let outer = Outer(
            inner: inner, table: ["x/y": inner, "é": inner], pairs: [[1, nil], [], [0.5]],
            shape: [.circle(radius: 1.5), .nothing, .square(side: 2)])
        let raw = try RawJSON(encoding: outer)
        #expect(try raw.decode() == outer)
        #expect(try JSONDecoder().decode(Outer.self, from: Data(raw.bytes)) == outer)
        #expect(try RawJSON(validating: ByteSlice(JSONEncoder().encode(outer))).decode() == outer)
        #expect(try JSONValue(encoding: outer).decode() == outer)
    }

    @Test func topLevelValues() throws {
        #expect(try RawJSON(validating: "1.0").decode(Int.self) == 1)
        #expect(try RawJSON(validating: "null").decode(Int?.self) == nil)
        #expect(try RawJSON(validating: "[null,1]").decode([Int?].self) == [nil, 1])
        #expect(try RawJSON(validating: #"["a","b\n"]"#).decode([String].self) == ["a", "b\n"])
        #expect(try RawJSON(validating: #"{"a":"b"}"#).decode([String: String].self) == ["a": "b"])
        #expect(try RawJSON(validating: #"{"a":[1]}"#).decode([String: JSONValue].self) == ["a": [1]])
        #expect(try RawJSON(validating: #"{"1":"b"}"#).decode([Int: String].self) == [1: "b"])
        #expect(try RawJSON(validating: "[1,255]").decode([UInt8].self) == [1, 255])
        #expect(try RawJSON(validating: "[]").decode(Set<Int>.self).isEmpty)
        #expect(try RawJSON(validating: " [1e400] ").decode([JSONNumber].self).first?.text == "1e400")
        #expect(try RawJSON(validating: #"{"a":1}"#).decode(JSONObject.self) == ["a": 1])
    }

    @Test func textsForPeople() throws {
        struct Forecast: Codable { var place: String, days: Int, detail: Inner? }
        #expect(
            try error(#"{"place":"x","days":"three"}"#, Forecast.self)
                == "/days: expected an integer, found a string")
        #expect(try error(#"{"place":"x"}"#, Forecast.self) == #"the member "days" is missing"#)
        #expect(
            try error(#"{"place":null,"days":1}"#, Forecast.self) == "/place: expected a string, found null")
        #expect(
            try error(#"{"place":"x","days":1.5}"#, Forecast.self) == "/days: expected an integer, found 1.5")
        #expect(
            try error(#"{"place":"x","days":1e30}"#, Forecast.self) == "/days: the number does not fit in Int"
        )
        #expect(try error("[]", Forecast.self) == "expected an object, found an array")
        #expect(try error("[1,-1]", [UInt8].self) == "/1: the number does not fit in UInt8")
        #expect(try error("[1e400]", [Double].self) == "/0: the number does not fit in Double")
        #expect(try error("[1e39]", [Float].self) == "/0: the number does not fit in Float")
        #expect(
            try error(#"{"a":{"b/c":[0,{"~":true}]}}"#, [String: [String: [Int]]].self)
                == "/a/b~1c/1: expected an integer, found an object")
        let inner = #"{"list":[1,[]],"colour":"red"}"#
        #expect(
            try error(#"{"place":"x","days":1,"detail":\#(inner)}"#, Forecast.self)
                == "/detail/list/1: expected an integer, found an array")
        #expect(try error(#"["x"]"#, [Bool].self) == "/0: expected a boolean, found a string")
        #expect(try error(#"{"a":1}"#, [String: String].self) == "/a: expected a string, found a number")
        #expect(try error(#"[["a",2]]"#, [[String]].self) == "/0/1: expected a string, found a number")
        #expect(try error("{}", [Int].self) == "expected an array, found an object")
        // What the standard library throws gets its path as well.
        #expect(try error(#"[{"list":[],"colour":"blue"}]"#, [Inner].self).hasPrefix("/0/colour: "))
        #expect(
            try error(#"{"list":[],"colour":7}"#, Inner.self) == "/colour: expected a string, found a number")
    }

    struct Pair: Decodable, Equatable {
        var first: Int, second: String
        init(from decoder: any Decoder) throws {
            var container = try decoder.unkeyedContainer()
            #expect(container.count == 2 && container.currentIndex == 0)
            #expect(try !container.decodeNil())
            first = try container.decode(Int.self)
            #expect(throws: JSONError.self) { try container.decode(Int.self) }
            second = try container.decode(String.self)
            #expect(container.isAtEnd && container.currentIndex == 2)
            #expect(throws: JSONError.self) { try container.decode(Int.self) }
        }
    }

    /// An element that does not fit can be tried again as another type.
    @Test func unkeyedContainers() throws {
        #expect(try RawJSON(validating: #" [ 1 , "x" ] "#).decode(Pair.self).second == "x")
    }

    class Base: Codable {
        var id: Int
        init(id: Int) { self.id = id }
    }
    final class Derived: Base {
        var name: String
        enum Keys: CodingKey { case name, nested, list }
        init(id: Int, name: String) {
            self.name = name
            super.init(id: id)
        }
        required init(from decoder: any Decoder) throws {
            let container = try decoder.container(keyedBy: Keys.self)
            name = try container.decode(String.self, forKey: .name)
            let nested = try container.nestedContainer(keyedBy: Keys.self, forKey: .nested)
            #expect(try nested.decode(String.self, forKey: .name) == "inner")
            var list = try container.nestedUnkeyedContainer(forKey: .list)
            #expect(try list.decode(Int.self) == 1)
            #expect(try list.nestedUnkeyedContainer().count == 0)
            #expect(container.allKeys.count == 3)
            try super.init(from: container.superDecoder())
        }
        /// Writes in an order that needs the gaps: the parts are filled after later members.
        override func encode(to encoder: any Encoder) throws {
            var container = encoder.container(keyedBy: Keys.self)
            let parent = container.superEncoder()
            var nested = container.nestedContainer(keyedBy: Keys.self, forKey: .nested)
            var list = container.nestedUnkeyedContainer(forKey: .list)
            try container.encode(name, forKey: .name)
            try nested.encode("inner", forKey: .name)
            try list.encode(1)
            _ = list.nestedUnkeyedContainer()
            try super.encode(to: parent)
        }
    }

    @Test func inheritanceAndNestedContainers() throws {
        let raw = try RawJSON(encoding: [Derived(id: 1, name: "a"), Derived(id: 2, name: "b")])
        #expect(
            raw.description
                == #"[{"super":{"id":1},"nested":{"name":"inner"},"list":[1,[]],"name":"a"},"#
                + #"{"super":{"id":2},"nested":{"name":"inner"},"list":[1,[]],"name":"b"}]"#)
        let back = try raw.decode([Derived].self)
        #expect(back.map(\.id) == [1, 2])
        #expect(back.map(\.name) == ["a", "b"])
    }

    /// A decoder that is kept beyond the call reads memory that is still there.
    @Test func decodersMayBeKept() throws {
        struct Keeper: Decodable {
            let decoder: any Decoder
            init(from decoder: any Decoder) { self.decoder = decoder }
        }
        let keeper = try RawJSON(validating: #"{"a":{"b":[1,2,3]}}"#).decode([String: Keeper].self)
        #expect(
            try keeper["a"]?.decoder.container(keyedBy: JSONCodingKey.self)
                .decode([Int].self, forKey: JSONCodingKey(stringValue: "b")) == [1, 2, 3])
    }

    /// Many members of the standard library's dictionary, in linear time.
    @Test func largeDictionaries() throws {
        let table = Dictionary(uniqueKeysWithValues: (0 ..< 50_000).map { ("key\($0)", $0) })
        #expect(try RawJSON(encoding: table).decode([String: Int].self) == table)
    }

    /// Each element fails once before it succeeds: no failure may cost a pass over the text.
    @Test func unionsOfTypes() throws {
        enum Either: Decodable, Equatable {
            case number(Int), text(String)
            init(from decoder: any Decoder) throws {
                let container = try decoder.singleValueContainer()
                if let number = try? container.decode(Int.self) { self = .number(number); return }
                if (try? container.decode(Colour.self)) != nil { self = .text("colour"); return }
                self = .text(try container.decode(String.self))
            }
        }
        let text = "[" + String(repeating: #""x","#, count: 50_000) + "7]"
        let values = try RawJSON(validating: text).decode([Either].self)
        #expect(values.count == 50_001)
        #expect(values.first == .text("x") && values.last == .number(7))
    }

    @Test func rawPartsShareTheMemory() throws {
        struct Call: Decodable { var name: String, arguments: RawJSON }
        let text = try RawJSON(validating: #"{"name":"x","arguments":{ "a" : 1.0 }}"#)
        let call = try text.decode(Call.self)
        #expect(call.arguments.description == #"{ "a" : 1.0 }"#)
        #expect(call.arguments.bytes.storage === text.bytes.storage)
    }
}

@Suite struct JSONEncoderTests {
    struct Odd: Encodable {
        let body: @Sendable (any Encoder) throws -> Void
        func encode(to encoder: any Encoder) throws { try body(encoder) }
    }

    @Test func specialTypesKeepTheirSpelling() throws {
        struct All: Codable, Equatable {
            var raw: RawJSON, number: JSONNumber, tree: JSONValue, object: JSONObject, strings: [String],
                none: Int?
        }
        let text =
            #"{"raw":{ "a" : 1.0 },"number":1e400,"tree":[1.50],"object":{"b":1,"a":2},"strings":["x"]}"#
        let all = try RawJSON(validating: text).decode(All.self)
        #expect(try RawJSON(encoding: all).description == text)
    }

    @Test func foreignCoders() throws {
        struct All: Codable, Equatable {
            var raw: RawJSON, number: JSONNumber, tree: JSONValue, object: JSONObject
        }
        let text =
            #"{"raw":{"a":1},"number":2,"tree":[1.5,null,true,"x",18446744073709551615,{}],"#
            + #""object":{"b":[]}}"#
        let all = try RawJSON(validating: text).decode(All.self)
        #expect(try JSONDecoder().decode(All.self, from: JSONEncoder().encode(all)) == all)
        #expect(try JSONDecoder().decode(JSONValue.self, from: Data(text.utf8)) == JSONValue(parsing: text))
    }

    @Test func nothingIsAnEmptyObject() throws {
        #expect(try RawJSON(encoding: Odd { _ in }).description == "{}")
        #expect(try RawJSON(encoding: ["a": Odd { _ in }]).description == #"{"a":{}}"#)
        #expect(
            try RawJSON(encoding: [Odd { _ = $0.container(keyedBy: JSONCodingKey.self) }]).description
                == "[{}]")
        #expect(try RawJSON(encoding: [Odd { _ = $0.unkeyedContainer() }]).description == "[[]]")
    }

    /// The same container asked for twice is the same container.
    @Test func containerAskedForTwice() throws {
        let odd = Odd { encoder in
            var one = encoder.container(keyedBy: JSONCodingKey.self)
            try one.encode([1], forKey: JSONCodingKey(stringValue: "a"))
            var two = encoder.container(keyedBy: JSONCodingKey.self)
            try two.encode([2: 3], forKey: JSONCodingKey(stringValue: "b"))
            try one.encodeNil(forKey: JSONCodingKey(stringValue: "c"))
        }
        #expect(try RawJSON(encoding: odd).description == #"{"a":[1],"b":{"2":3},"c":null}"#)
    }

    @Test(arguments: [Double.nan, .infinity, -.infinity]) func notFinite(_ value: Double) {
        #expect(throws: JSONError.self) { try RawJSON(encoding: ["a": value]) }
        #expect(throws: JSONError.self) { try RawJSON(encoding: [Float(value)]) }
    }

    /// Nothing of a value that fails stays in the buffer.
    @Test func failureLeavesNoTrace() throws {
        var writer = JSONWriter()
        writer.beginArray()
        writer.number(1)
        #expect(throws: JSONError.self) { try writer.encode(["a": [1, Double.nan]]) }
        try writer.encode(["b": 2])
        #expect(throws: JSONError.self) { try writer.encode([Double.nan]) }
        writer.endArray()
        #expect(writer.failure == nil)
        #expect(String(writer.finish()) == #"[1,{"b":2}]"#)
    }

    final class Chain: Encodable {
        let next: Chain?
        init(_ next: Chain?) { self.next = next }
    }

    /// Fault row 22.
    @Test func recursiveTypesEndAtTheLimit() throws {
        var chain = Chain(nil)
        for _ in 0 ..< 127 { chain = Chain(chain) }
        _ = try RawJSON(encoding: chain)
        for _ in 0 ..< 10_000 { chain = Chain(chain) }
        let error = #expect(throws: JSONError.self) { try RawJSON(encoding: chain) }
        #expect(error?.reason == .depthExceeded(128))
    }
}
