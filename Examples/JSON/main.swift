// JSON in a program of your own: a validated value as its bytes, and a tree.
import MCPCore

struct Forecast: Codable {
    var place: String
    var days: Int
}

let arguments = try RawJSON(validating: #"{"place":"Köln","days":3.0}"#)
print(arguments["place"]?.string ?? "nowhere")  // Köln
print(try arguments.decode(Forecast.self).days)  // 3

let answer: JSONValue = ["sunny": true, "degrees": [18, 21.5, nil]]
print(answer.serialized())  // {"sunny":true,"degrees":[18,21.5,null]}
print(answer["degrees"]?[1]?.doubleValue ?? 0)  // 21.5
