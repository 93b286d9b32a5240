// A client that uses the platform's HTTP and Foundation's JSON: example-foundation URL TOOL [JSON]
import Foundation
import MCPCore
import MCPFoundation

struct Answer: Decodable { let sum: Double }

guard CommandLine.arguments.count > 2 else {
    FileHandle.standardError.write(Data("usage: example-foundation URL TOOL [JSON]\n".utf8))
    exit(2)
}

let carrier = URLSessionCarrier()
let client = try await MCPClient.connect(.http(CommandLine.arguments[1], carrier: carrier))
let arguments = try JSONValue(parsing: Data((CommandLine.arguments.dropFirst(3).first ?? "{}").utf8))
let result = try await client.callTool(
    CommandLine.arguments[2], arguments.objectValue ?? [:])
if let value = result.structuredContent {
    let answer = try? JSONDecoder().decode(Answer.self, from: value)
    print(answer.map { "sum: \($0.sum)" } ?? "", String(decoding: value.data(pretty: true), as: UTF8.self))
} else {
    print(result.text)
}
await client.close()
