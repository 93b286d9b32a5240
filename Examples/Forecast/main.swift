// A tool with typed arguments and a typed result, which reports its progress.
import MCPCore

enum Unit: String, Codable, CaseIterable, Sendable { case celsius, fahrenheit }

/// The arguments of the tool. Their JSON Schema is derived from the type: `days` and `unit` may be omitted.
struct Question: Codable, Sendable {
    var city: String
    var days: Int?
    var unit: Unit?
}

struct Forecast: Codable, Sendable {
    struct Day: Codable, Sendable {
        var day: Int
        var temperature: Double
    }

    var city: String
    var unit: Unit
    var days: [Day]
}

let server = MCPServer("weather", version: "1.0", instructions: "The forecast is made up.")
server.addTool(
    "forecast", "The weather of the next days",
    describe: ["city": "Name of the city", "days": "How many days, 1 to 7; 3 by default"],
    annotations: ToolAnnotations(readOnlyHint: true), timeout: .seconds(20)
) { (question: Question, context) in
    let count = question.days ?? 3
    guard (1 ... 7).contains(count) else { throw ToolError("\"days\" must be 1 to 7, not \(count)") }
    let unit = question.unit ?? .celsius
    var days: [Forecast.Day] = []
    for day in 1 ... count {
        try Task.checkCancellation()
        let celsius = Double(question.city.utf8.count) + Double(day)
        days.append(.init(day: day, temperature: unit == .celsius ? celsius : celsius * 1.8 + 32))
        await context.progress(Double(day), total: Double(count), message: "day \(day) of \(count)")
    }
    return Forecast(city: question.city, unit: unit, days: days)
}
try await server.run(.stdio)
