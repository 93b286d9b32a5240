import Foundation
import MCPCore
import MCPFoundation
import Testing

/// JSON between this library and Foundation, in both directions.
@Suite struct JSONFoundationTests {
    private struct Order: Codable, Equatable {
        var city: String
        var at: Date?
        var maxPrice: Double?
    }

    @Test func argumentsOfAnInvocation() throws {
        var invocation = ClientToolInvocation(tool: .init(name: "order"))
        struct Nothing: Decodable {}
        _ = try JSONDecoder().decode(Nothing.self, from: invocation.args)
        invocation.args = Array(#"{"city":"Köln","max_price":1.5,"at":"2026-07-28T00:00:00Z"}"#.utf8)
        let decoder = JSONDecoder()
        decoder.keyDecodingStrategy = .convertFromSnakeCase
        decoder.dateDecodingStrategy = .iso8601
        let order = try decoder.decode(Order.self, from: invocation.args)
        #expect(order.city == "Köln")
        #expect(order.maxPrice == 1.5)
        #expect(order.at?.timeIntervalSince1970 == 1_785_196_800)
        invocation.args = Array("{".utf8)
        #expect(throws: DecodingError.self) { try JSONDecoder().decode(Order.self, from: invocation.args) }
    }

    @Test func valuesAsData() throws {
        let value: JSONValue = ["city": "Köln", "n": [1, 2.5, nil, true]]
        #expect(try JSONValue(parsing: value.data()) == value)
        #expect(try JSONValue(parsing: value.data(pretty: true)) == value)
        #expect(try JSONDecoder().decode(Order.self, from: value).city == "Köln")
        #expect(try JSONDecoder().decode(Order.self, from: RawJSON(value)).city == "Köln")
        #expect(throws: JSONError.self) { try JSONValue(parsing: Data("[1,]".utf8)) }
        #expect(throws: JSONError.self) { try JSONValue(parsing: Data([0x22, 0xFF, 0x22])) }
    }

    @Test func encodersWithStrategies() throws {
        let encoder = JSONEncoder()
        encoder.keyEncodingStrategy = .convertToSnakeCase
        encoder.dateEncodingStrategy = .secondsSince1970
        let order = Order(city: "x", at: Date(timeIntervalSince1970: 5), maxPrice: 2)
        #expect(try encoder.encodeToJSON(order) == ["city": "x", "at": 5, "max_price": 2])
    }
}
