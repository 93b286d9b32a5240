import MCPCore
import Testing

@testable import MCPClientCLI

/// Tool arguments: every form goes through one typed path (client-side view of the tool's input schema).
struct ArgumentBuilderTests {
    private static let schema: JSONValue = [
        "type": "object",
        "properties": [
            "id": ["type": "string"],
            "limit": ["type": "integer", "minimum": 1],
            "ratio": ["type": "number"],
            "force": ["type": "boolean"],
            "unit": ["enum": ["web", "worker", "cron"]],
            "level": ["enum": [1, 2, "auto", true]],
            "paths": ["type": "array", "items": ["type": "string"]],
            "sizes": ["type": "array", "items": ["type": "integer"]],
            "parts": [
                "type": "array", "items": ["type": "object", "properties": ["name": ["type": "string"]]],
            ],
            "oneOrMany": ["anyOf": [["type": "integer"], ["type": "array", "items": ["type": "integer"]]]],
            "maybe": ["type": ["integer", "null"]],
            "mixed": ["type": ["string", "integer"]],
            "mode": ["anyOf": [["const": "auto"], ["type": "integer"], ["type": "null"]]],
            "steps": ["anyOf": [["type": "array", "items": ["type": "integer"]], ["type": "null"]]],
            "words": ["anyOf": [["type": "array", "items": ["type": "string"]], ["type": "null"]]],
            "any": true,
            "tags": [
                "type": "object", "properties": ["count": ["type": "integer"], "name": ["type": "string"]],
            ],
            "open": ["type": "object"],
            "closed": [
                "type": "object", "properties": ["a": ["type": "string"]], "additionalProperties": false,
            ],
            "dry_run": ["type": "boolean"],
            "max.size": ["type": "integer"],
        ],
        "additionalProperties": false,
    ]

    private static func input(_ files: [String: String] = [:], stdin: String? = nil) -> ArgumentInput {
        ArgumentInput(
            file: { path throws(Failure) in
                guard let text = files[path] else { throw .usage("cannot read \(path): No such file") }
                return Array(text.utf8)
            },
            stdin: { () throws(Failure) in Array((stdin ?? "").utf8) }, isStdinPiped: stdin != nil)
    }

    private func build(
        _ words: [String], files: [String: String] = [:], stdin: String? = nil,
        schema: JSONValue = Self.schema,
        acceptsUnknown: Bool = false
    ) throws -> (JSONObject, [ArgumentProblem]) {
        var builder = ArgumentBuilder(
            name: "tool", schema: schema, input: Self.input(files, stdin: stdin),
            acceptsUnknown: acceptsUnknown)
        let object = try builder.build(words)
        return (object, builder.problems)
    }

    @Test(arguments: [
        ("id=000123", #"{"id":"000123"}"#),
        ("id=", #"{"id":""}"#),
        ("id=a=b", #"{"id":"a=b"}"#),
        ("id=true", #"{"id":"true"}"#),
        ("limit=5", #"{"limit":5}"#),
        ("limit=9007199254740993", #"{"limit":9007199254740993}"#),
        ("ratio=1.50", #"{"ratio":1.50}"#),
        ("force=true", #"{"force":true}"#),
        ("unit=web", #"{"unit":"web"}"#),
        ("level=1", #"{"level":1}"#),
        ("level=auto", #"{"level":"auto"}"#),
        ("level=true", #"{"level":true}"#),
        ("paths=one", #"{"paths":["one"]}"#),
        ("paths=a paths=b", #"{"paths":["a","b"]}"#),
        ("sizes=1 sizes=2 sizes=3", #"{"sizes":[1,2,3]}"#),
        ("oneOrMany=1", #"{"oneOrMany":1}"#),
        ("oneOrMany=1 oneOrMany=2", #"{"oneOrMany":[1,2]}"#),
        ("maybe=null", #"{"maybe":null}"#),
        ("maybe=7", #"{"maybe":7}"#),
        ("mixed=7", #"{"mixed":"7"}"#),
        ("mode=auto", #"{"mode":"auto"}"#),
        ("mode=5", #"{"mode":5}"#),
        ("mode=null", #"{"mode":null}"#),
        ("steps=null", #"{"steps":null}"#),
        ("steps=1", #"{"steps":[1]}"#),
        ("words=null", #"{"words":["null"]}"#),
        ("any=7", #"{"any":"7"}"#),
        ("any:=7", #"{"any":7}"#),
        ("id:=5", #"{"id":5}"#),
        (#"paths:=["a","b"]"#, #"{"paths":["a","b"]}"#),
        (#"paths=a paths:="b""#, #"{"paths":["a","b"]}"#),
        ("tags.count=3 tags.name=x", #"{"tags":{"count":3,"name":"x"}}"#),
        ("open.a.b=1", #"{"open":{"a":{"b":"1"}}}"#),
        ("max.size=3", #"{"max.size":3}"#),
        ("--limit 5", #"{"limit":5}"#),
        ("--limit=5", #"{"limit":5}"#),
        ("--id=000", #"{"id":"000"}"#),
        ("--force", #"{"force":true}"#),
        ("--force false", #"{"force":false}"#),
        ("--force limit=2", #"{"force":true,"limit":2}"#),
        ("--dry-run", #"{"dry_run":true}"#),
        ("--paths a --paths b", #"{"paths":["a","b"]}"#),
        ("--tags.count 4", #"{"tags":{"count":4}}"#),
        (#"parts:=[{"name":"q"}]"#, #"{"parts":[{"name":"q"}]}"#),
        (#"parts:={"name":"q"} parts:={}"#, #"{"parts":[{"name":"q"},{}]}"#),
        (#"{"limit":3,"id":"x"} limit=9"#, #"{"limit":9,"id":"x"}"#),
        (#"{"tags":{"count":1,"name":"n"}} tags.count=2"#, #"{"tags":{"count":2,"name":"n"}}"#),
    ])
    func valuesGetTheirTypeFromTheSchema(line: String, expected: String) throws {
        let (object, problems) = try build(line.split(separator: " ").map(String.init))
        #expect(problems.isEmpty)
        #expect(JSONValue.object(object).serialized() == expected)
    }

    @Test(arguments: [
        ("limit=abc", "limit", "\"abc\" is not an integer"),
        ("ratio=abc", "ratio", "\"abc\" is not a number"),
        ("force=yes", "force", "\"yes\" is not true or false"),
        ("maybe=x", "maybe", "\"x\" is not an integer or null"),
        ("mode=never", "mode", #""never" is not one of "auto" or an integer or null"#),
        ("sizes=1,2", "sizes", "\"1,2\" is not an integer"),
        ("tags=x", "tags", "is an object: write tags.member=value or tags:={…}"),
        (#"parts={"name":"q"}"#, "parts", "is a list of objects: write parts:=[{…}]"),
        ("parts=a parts=b", "parts", "is a list of objects: write parts:=[{…}]"),
        ("parts.name=a", "parts.name", "parts is a list of objects: write parts:=[{…}]"),
        ("limit=1 limit=2", "limit", "is given 2 times but accepts one value"),
        ("nosuch=1", "nosuch", "no such argument"),
        ("closed.b=1", "closed.b", "no such argument"),
        ("limit.x=1", "limit.x", "limit is not an object and has no members"),
        ("--nosuch=1", "--nosuch", "no such argument"),
        ("--limit", "--limit", "needs a value"),
        ("-x", "-x", "is not an argument: write NAME=value"),
        ("limit", "limit", "has no value: write limit=value"),
        ("hello", "hello", "has no name: write NAME=value"),
        ("=x", "=x", "has no name: write NAME=value"),
    ])
    func whatDoesNotFitIsNamed(line: String, name: String, message: String) throws {
        let (_, problems) = try build(line.split(separator: " ").map(String.init))
        #expect(problems.count == 1)
        #expect(problems.first?.name == name)
        #expect(problems.first?.message == message)
    }

    @Test(arguments: [
        ("limt=1", "limit"), ("--limt=1", "limit"), ("closed.A1=x", "closed.a"), ("tagz.count=1", "tags"),
    ])
    func namesGetASuggestion(line: String, suggestion: String) throws {
        let (_, problems) = try build([line])
        #expect(problems.first?.suggestion == suggestion)
    }

    @Test func theOnlyRequiredArgumentIsSuggestedForABareWord() throws {
        let schema: JSONValue = [
            "properties": ["text": ["type": "string"], "loud": ["type": "boolean"]], "required": ["text"],
        ]
        let (_, problems) = try build(["hello there"], schema: schema)
        #expect(problems.first?.suggestion == "'text=hello there'")
    }

    @Test func allProblemsAreReportedAtOnce() throws {
        let (object, problems) = try build(["limit=x", "id=ok", "nosuch=1", "force=maybe"])
        #expect(problems.map(\.name) == ["nosuch", "limit", "force"])
        #expect(object["id"] == "ok")
    }

    // MARK: Files and stdin

    @Test func textOfAFile() throws {
        let files = ["/f": "two\nlines\n", "/n": "42\n", "/e": "web\n", "/a": "one\n"]
        let (object, _) = try build(["id=@/f", "limit=@/n", "unit=@/e", "paths=@/a"], files: files)
        #expect(object["id"] == "two\nlines\n")
        #expect(object["limit"] == 42)
        #expect(object["unit"] == "web")
        #expect(object["paths"] == ["one\n"])
    }

    @Test func jsonOfAFileAndOfStdin() throws {
        let (object, _) = try build(
            ["any:=@/j", "open:=@-"], files: ["/j": "[1, 2.0]\n"], stdin: #"{"x":null}"#)
        #expect(object["any"]?.serialized() == "[1,2.0]")
        #expect(object["open"] == ["x": nil])
    }

    @Test func textOfStdin() throws {
        let (object, _) = try build(["id=@-"], stdin: "from a pipe")
        #expect(object["id"] == "from a pipe")
    }

    @Test func stdinCannotBeUsedTwice() {
        let failure = #expect(throws: Failure.self) { try build(["id=@-", "any=@-"], stdin: "x") }
        #expect(failure?.message == "stdin is used twice")
    }

    @Test func aMissingFileSaysHowToSendTheTextItself() {
        let failure = #expect(throws: Failure.self) { try build(["id=@channel"]) }
        #expect(failure?.code == .usage)
        #expect(failure?.hint == #"@ reads a file; the text itself is 'id:="@channel"'"#)
    }

    @Test func aFileThatIsNoTextIsRefused() {
        let input = ArgumentInput(
            file: { _ throws(Failure) in [0xFF, 0xFE] }, stdin: { () throws(Failure) in [] },
            isStdinPiped: false)
        var builder = ArgumentBuilder(name: "tool", schema: Self.schema, input: input)
        let failure = #expect(throws: Failure.self) { try builder.build(["id=@/bin"]) }
        #expect(failure?.message == "/bin is not UTF-8 text")
    }

    @Test func aPipedObjectIsTheWholeAndWordsMergeOverIt() throws {
        let (object, _) = try build(["limit=9"], stdin: "{\"limit\":1,\"id\":\"x\"}\n")
        #expect(JSONValue.object(object).serialized() == #"{"limit":9,"id":"x"}"#)
    }

    @Test func anEmptyPipeIsNoObject() throws {
        #expect(try build(["limit=9"], stdin: " \n").0 == ["limit": 9])
    }

    @Test func stdinIsLeftAloneWhenAnObjectIsGivenOrTheToolTakesNothing() throws {
        #expect(try build(["{}"], stdin: "not json").0 == [:])
        let nothing: JSONValue = ["type": "object", "properties": [:], "additionalProperties": false]
        #expect(try build([], stdin: "not json", schema: nothing).0 == [:])
    }

    @Test(arguments: [
        (["{"], nil as String?, "the {…} argument is not a JSON object"),
        ([], "[1]", "stdin is not a JSON object"),
        ([], "hello", "stdin is not a JSON object"),
        (["any:={"], nil, "any:=… is not JSON"),
        (["{}", "{}"], nil, "there are two {…} arguments"),
    ])
    func brokenJSONStopsBeforeAnythingIsSent(words: [String], stdin: String?, message: String) {
        let failure = #expect(throws: Failure.self) { try build(words, stdin: stdin) }
        #expect(failure?.message == message)
        #expect(failure?.code == .usage)
    }

    // MARK: Our flags behind the tool name

    @Test(arguments: ["--json", "--timeout=5", "-o", "-v", "-oFILE", "--deadline"])
    func aMisplacedFlagOfOursGetsTheHint(word: String) {
        let failure = #expect(throws: Failure.self) { try build(["limit=1", word]) }
        #expect(failure?.hint == "put it before tool")
        #expect(failure?.code == .usage)
    }

    @Test func aPropertyWithTheNameOfAFlagIsTheToolsOwn() throws {
        let schema: JSONValue = ["properties": ["json": ["type": "boolean"], "timeout": ["type": "integer"]]]
        let (object, problems) = try build(["--json", "--timeout", "3"], schema: schema)
        #expect(problems.isEmpty)
        #expect(object == ["json": true, "timeout": 3])
    }

    // MARK: Open schemas

    @Test(arguments: [
        #"{"type":"object"}"#, #"{}"#, #"{"properties":{"a":{}},"additionalProperties":true}"#,
        #"{"properties":{"a":{}},"patternProperties":{"^x":{}}}"#, #"{"$ref":"https://example.com/other"}"#,
    ])
    func openSchemasTakeAnyName(schema: String) throws {
        let (object, problems) = try build(["x1=5"], schema: try JSONValue(parsing: schema))
        #expect(problems.isEmpty)
        #expect(object == ["x1": "5"])
    }

    @Test func aSchemaForOtherMembersTypesThem() throws {
        let (object, _) = try build(["x=5"], schema: ["additionalProperties": ["type": "integer"]])
        #expect(object == ["x": 5])
    }

    @Test func withoutValidationAnUnknownNameIsAText() throws {
        let (object, problems) = try build(["nosuch=5"], acceptsUnknown: true)
        #expect(problems.isEmpty)
        #expect(object == ["nosuch": "5"])
    }

    /// Which of two values was meant is not known.
    @Test(arguments: [
        ([#"{"id":"a","limit":1,"id":"b"}"#], "the {…} argument has the name \"id\" twice"),
        ([#"{"tags":{"name":"a","n\u0061me":"b"}}"#], "the {…} argument has the name \"name\" twice"),
        ([#"open:={"a":[{"b":1,"b":2}]}"#], "open:=… has the name \"b\" twice"),
        (["open:=@f"], "f has the name \"x\" twice"),
    ])
    func namesThatAreGivenTwice(words: [String], message: String) throws {
        let failure = #expect(throws: Failure.self) {
            try build(words, files: ["f": #"{"x":1,"x":1}"#])
        }
        #expect(failure?.message == message)
        let (object, _) = try build([#"{"tags":{"name":"id","count":1},"id":"a","paths":["id","id"]}"#])
        #expect(object["id"] == "a")
        // Two spellings of one letter are two names (docs/json.md).
        let (odd, _) = try build([#"{"tags":{"\u00e9":1,"e\u0301":2}}"#])
        #expect(odd["tags"]?.objectValue?.count == 2)
    }
}
