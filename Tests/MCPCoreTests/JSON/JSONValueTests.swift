import Testing

@testable import MCPCore

@Suite struct JSONValueTests {
    @Test func literals() {
        let value: JSONValue = ["a": 1, "b": [true, nil, 1.5, "x\(1)"], "a": 2]
        #expect(value.serialized() == #"{"a":2,"b":[true,null,1.5,"x1"]}"#)
        #expect(value.description == value.serialized())
    }

    @Test func access() {
        let value: JSONValue = ["n": 3, "d": 2.5, "s": "t", "b": false, "z": nil, "l": [1], "o": ["k": "v"]]
        #expect(value["n"]?.intValue == 3)
        #expect(value["n"]?.int64Value == 3)
        #expect(value["d"]?.doubleValue == 2.5)
        #expect(value["d"]?.intValue == nil)
        #expect(value["s"]?.stringValue == "t")
        #expect(value["b"]?.boolValue == false)
        #expect(value["z"]?.isNull == true)
        #expect(value["l"]?[0]?.intValue == 1)
        #expect(value["l"]?[1] == nil)
        #expect(value["l"]?[-1] == nil)
        #expect(value["l"]?["k"] == nil)
        #expect(value["o"]?["k"]?.stringValue == "v")
        #expect(value["missing"] == nil)
        #expect(
            value["s"]?.boolValue == nil && value["s"]?.arrayValue == nil && value["s"]?.objectValue == nil)
        #expect(JSONValue(Double.nan).isNull)
        #expect(JSONValue(UInt64.max).numberValue?.uint64 == .max)
    }

    @Test func equalityIsThatOfTheMeaning() throws {
        let a = try JSONValue(parsing: #"{"x":1.0,"y":["\u00e9"]}"#)
        let b = try JSONValue(parsing: #"{"y":["é"],"x":1}"#)
        #expect(a == b)
        #expect(a.hashValue == b.hashValue)
        #expect(try JSONValue(parsing: "\"\u{E9}\"") != JSONValue(parsing: "\"e\u{301}\""))
        #expect(JSONValue.null != false)
        #expect(JSONValue(1) != "1")
        #expect(try JSONValue(parsing: "[1,2]") != JSONValue(parsing: "[2,1]"))
    }

    @Test func prettyText() throws {
        let value: JSONValue = ["a": [1, "x,{}[]:"], "b": [:], "c": [], "d": ["e": nil]]
        let text = """
            {
              "a": [
                1,
                "x,{}[]:"
              ],
              "b": {},
              "c": [],
              "d": {
                "e": null
              }
            }
            """
        #expect(value.serialized(pretty: true) == text)
        #expect(try JSONValue(parsing: text) == value)
    }

    /// Fault row 22: nothing crashes, and the writer says so.
    @Test func treesThatAreTooDeep() {
        var value: JSONValue = 1
        for _ in 0 ..< 128 { value = [value] }
        var writer = JSONWriter()
        writer.value(value)
        #expect(writer.failure == nil)
        writer.startMessage()
        writer.value(["a": value])
        #expect(writer.failure?.reason == .depthExceeded(128))
        #expect(JSONValue.array([value]).serialized().contains("null"))
        #expect(throws: JSONError.self) { try RawJSON(encoding: JSONValue.array([value])) }
        #expect(throws: JSONError.self) { try JSONValue.array([value]).decode(JSONValue.self) }
    }
}

@Suite struct JSONObjectTests {
    @Test func keepsOrderAndReplaces() {
        var object: JSONObject = ["b": 1, "a": 2]
        object["c"] = 3
        object["b"] = 4
        #expect(Array(object.keys) == ["b", "a", "c"])
        #expect(Array(object.values) == [4, 2, 3])
        object["a"] = nil
        #expect(object.map(\.key) == ["b", "c"])
        object["none"] = nil
        #expect(object.count == 2)
        object.append("b", nil)
        #expect(object["b"] == .some(.null))
        #expect(!object.isEmpty && JSONObject().isEmpty)
    }

    /// Around the size at which a table takes over.
    @Test(arguments: [0, 1, 15, 16, 17, 18, 40, 1000]) func sizes(_ count: Int) throws {
        var object = JSONObject()
        object.reserveCapacity(count)
        for index in 0 ..< count { object["key\(index)"] = JSONValue(index) }
        for index in 0 ..< count { object["key\(index)"] = JSONValue(index + 1) }
        #expect(object.count == count)
        #expect((0 ..< count).allSatisfy { object["key\($0)"]?.intValue == $0 + 1 })
        #expect(object["key\(count)"] == nil)
        let parsed = try JSONValue(parsing: JSONValue.object(object).serialized())
        #expect(parsed == .object(object))
        var reversed = JSONObject()
        for (key, value) in object.reversed() { reversed[key] = value }
        #expect(reversed == object)
        #expect(reversed.hashValue == object.hashValue)
        for index in stride(from: 0, to: count, by: 2) { object["key\(index)"] = nil }
        #expect(object.count == count / 2)
        #expect((0 ..< count).allSatisfy { (object["key\($0)"] == nil) == ($0 % 2 == 0) })
        if count > 0 { #expect(reversed != object) }
    }

    @Test(arguments: [2, 16, 17, 100]) func repeatedNames(_ count: Int) throws {
        let members = (0 ..< count).map { "\"k\($0 % (count - 1))\":\($0)" }.joined(separator: ",")
        let object = try #require(try JSONValue(parsing: "{\(members)}").objectValue)
        #expect(object.count == count - 1)
        #expect(object["k0"]?.intValue == count - 1)
        #expect(object.keys.first == "k0")
        let raw = try RawJSON(validating: "{\(members)}")
        #expect(raw["k0"]?.int == count - 1)
        #expect(try raw.decode([String: Int].self)["k0"] == count - 1)
        struct First: Decodable { var k0: Int }
        #expect(try raw.decode(First.self).k0 == count - 1)
    }
}
