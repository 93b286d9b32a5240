import Testing

@testable import MCPCore

/// The rules of `POST /register-tools`, in the order in which they decide.
@Suite struct StreamChatRegistrationTests {
    private func read(_ body: String, isJSON: Bool = true) throws(StreamChatRefusal) -> StreamChatRegistration
    {
        try StreamChatRegistration(ByteSlice(body), isJSON: isJSON) { _, name in name == "builtin" }
    }

    private func refusal(_ body: String, isJSON: Bool = true) -> StreamChatRefusal? {
        do {
            _ = try read(body, isJSON: isJSON)
            return nil
        } catch {
            return error
        }
    }

    // C13
    @Test(arguments: [
        "", "{}", "[]", #""text""#, "null", #"{"channel_id":5,"tools":[]}"#,
        #"{"channel_id":" ","tools":[]}"#,
        #"{"channel_id":"\u00a0\ufeff\u2003","tools":[]}"#, #"{"channel_id":null,"tools":[]}"#,
        #"{"tools":[]}"#,
    ])
    func aMissingOrBlankChannelIsRefused(_ body: String) {
        #expect(refusal(body) == .missingChannel)
        #expect(StreamChatRefusal.missingChannel.status == 400)
        #expect(StreamChatRefusal.missingChannel.body == ["error": "Missing or invalid channel_id"])
    }

    // C13
    @Test func aBodyThatIsNotDeclaredAsJSONIsNone() {
        #expect(refusal(#"{"channel_id":"a","tools":[]}"#, isJSON: false) == .missingChannel)
        #expect(refusal("{", isJSON: false) == .missingChannel)
        #expect(refusal("{") == StreamChatRefusal(400, "Invalid JSON"))
    }

    // C14
    @Test(arguments: ["{}", "null", #""x""#, "5", "true"])
    func toolsMustBeAnArray(_ tools: String) {
        #expect(refusal(#"{"channel_id":"a","tools":\#(tools)}"#) == .missingTools)
        #expect(refusal(#"{"channel_id":"a"}"#) == .missingTools)
    }

    // C15
    @Test func aChannelThatIsEmptyAfterItsColonIsRefused() throws {
        #expect(refusal(#"{"channel_id":"messaging:","tools":[]}"#) == .invalidChannel)
        #expect(refusal(#"{"channel_id":"messaging: :x","tools":[]}"#) == .invalidChannel)
        #expect(refusal(#"{"channel_id":"a/b","tools":[]}"#) == .invalidChannel)
        // The first failing rule decides.
        #expect(refusal(#"{"channel_id":"messaging:","tools":{}}"#) == .missingTools)
    }

    // C15
    @Test(arguments: [
        ("messaging:general", "general"), (" messaging: general ", "general"), ("a:b:c", "b"), (":b", "b"),
        ("general", "general"), ("\u{feff}general\u{3000}", "general"), ("\u{85}x", nil),
        // Not white space, but nobody sees the difference.
        ("\u{200b}x", nil), ("x\u{202e}", nil), ("x\u{2028}y", nil), ("👩\u{200d}🚀", "👩\u{200d}🚀"),
    ])
    func channelsAreNormalised(_ sent: String, _ channel: String?) {
        #expect(ChannelName(registered: sent)?.text == channel)
    }

    // C16
    @Test func entriesWithoutNameOrDescriptionAreNamed() throws {
        let registration = try read(
            #"""
            {"channel_id":"a","tools":[
              null, {"name":" greet ","description":" Says hello "}, {"name":"  ","description":"x"},
              {"name":" spaced ","description":" "}, {"description":"x"}, 5, "text", [],
              {"name":7,"description":"x"}, {"name":"bad name","description":"x"},
              {"name":"builtin","description":"x"}, {"name":"","description":"x"}, {"name":null}
            ]}
            """#)
        #expect(registration.tools.map(\.name) == ["greet"])
        #expect(registration.tools.first?.tool.description == "Says hello")
        #expect(
            registration.refused.map(\.name) == [
                "tool_00", "  ", " spaced ", "tool_04", "tool_05", "tool_06", "tool_07", "tool_08",
                "bad name", "builtin", "", "tool_12",
            ])
        let reasons = registration.refused.map(\.reason)
        #expect(reasons[0] == "the entry is not an object" && reasons[4] == reasons[0])
        #expect(reasons[1] == "name is missing, empty or not a string" && reasons[3] == reasons[1])
        #expect(reasons[2] == "description is missing, empty or not a string")
        #expect(reasons[8].contains("bad name") && reasons[9] == "a tool of the server has this name")
    }

    // C17
    @Test func instructionsAreTrimmedAndBlankOnesLeftOut() throws {
        let tools = try read(
            #"""
            {"channel_id":"a","tools":[
              {"name":"a","description":"x","instructions":"  Use it.\n"},
              {"name":"b","description":"x","instructions":" \u00a0 "},
              {"name":"c","description":"x","instructions":5}, {"name":"d","description":"x"}
            ]}
            """#
        ).tools
        #expect(tools.map(\.instructions) == ["Use it.", nil, nil, nil])
    }

    // C18
    @Test func parametersAreKeptOnlyWhenTheyAreAnObject() throws {
        let tools = try read(
            #"""
            {"channel_id":"a","tools":[
              {"name":"a","description":"x","parameters":{"type":"object","properties":{"q":{"type":"string"}}}},
              {"name":"b","description":"x","parameters":[]}, {"name":"c","description":"x","parameters":"s"},
              {"name":"d","description":"x","parameters":null}, {"name":"e","description":"x"}
            ]}
            """#
        ).tools
        #expect(
            tools.map(\.parameters) == [
                ["type": "object", "properties": ["q": ["type": "string"]]], .none, .none, .none, .none,
            ])
        #expect(tools.dropFirst().allSatisfy { $0.tool.inputSchema == ["type": "object"] })
    }

    // C19
    @Test(arguments: [
        ("", true), (#","showExternalSourcesIndicator":false"#, false),
        (#","show_external_sources_indicator":false"#, false),
        (#","showExternalSourcesIndicator":true,"show_external_sources_indicator":false"#, true),
        (#","showExternalSourcesIndicator":false,"show_external_sources_indicator":true"#, false),
        (#","showExternalSourcesIndicator":"no","show_external_sources_indicator":false"#, false),
        (#","showExternalSourcesIndicator":0"#, true), (#","show_external_sources_indicator":null"#, true),
    ])
    func bothSpellingsOfTheIndicatorAreRead(_ members: String, _ isShown: Bool) throws {
        let body = #"{"channel_id":"a","tools":[{"name":"a","description":"x"\#(members)}]}"#
        #expect(try read(body).tools.map(\.showsExternalSources) == [isShown])
    }

    // C20
    @Test func aListWithoutAnyValidToolIsRefused() {
        let refusal = refusal(#"{"channel_id":"a","tools":[{"name":"x"},null]}"#)
        #expect(refusal?.status == 400)
        #expect(
            refusal?.body == [
                "error": "No valid tools provided", "invalid_tools": ["x", "tool_01"],
                "refused": [
                    ["name": "x", "reason": "description is missing, empty or not a string"],
                    ["name": "tool_01", "reason": "the entry is not an object"],
                ],
            ])
    }

    // C21
    @Test func theAnswerCountsAndNames() throws {
        let good = try read(
            #"{"channel_id":"messaging:a","tools":[{"name":"x","description":"1"},{"name":"x","description":"2"}]}"#
        )
        #expect(
            good.answer == ["message": "Client tools registered", "channel_id": "a", "count": 2])
        let mixed = try read(#"{"channel_id":"a","tools":[{"name":"x","description":"1"},{}]}"#)
        #expect(
            mixed.answer == [
                "message": "Client tools registered", "channel_id": "a", "count": 1,
                "invalid_tools": ["tool_01"],
                "refused": [["name": "tool_01", "reason": "name is missing, empty or not a string"]],
            ])
        let empty = try read(#"{"channel_id":"a","tools":[]}"#)
        #expect(empty.answer == ["message": "Client tools registered", "channel_id": "a", "count": 0])
    }

    // C30
    @Test func tooManyToolsAndTooLargeSchemasAreRefused() throws {
        func list(_ count: Int) -> String {
            let tools = (0 ..< count).map { #"{"name":"t\#($0)","description":"x"}"# }
            return #"{"channel_id":"a","tools":[\#(tools.joined(separator: ","))]}"#
        }
        #expect(try read(list(64)).tools.count == 64)
        #expect(refusal(list(65)) == StreamChatRefusal(400, "Too many tools"))
        func schema(_ bytes: Int) -> String {
            let text = String(repeating: "x", count: bytes - #"{"type":"object","title":""}"#.utf8.count)
            return #"{"type":"object","title":"\#(text)"}"#
        }
        func one(_ parameters: String) -> String {
            #"{"channel_id":"a","tools":[{"name":"a","description":"x","parameters":\#(parameters)}]}"#
        }
        #expect(try read(one(schema(64 << 10))).tools.count == 1)
        #expect(refusal(one(schema(65 << 10)))?.body["error"] == "No valid tools provided")
        #expect(refusal(one(#"{"type":"string"}"#))?.body["error"] == "No valid tools provided")
        #expect(
            refusal(one(#"{"type":"object","properties":5}"#))?.body["error"] == "No valid tools provided")
    }

    // C30
    @Test func textsAreCutAndLoseControlCharacters() throws {
        let tool = try ClientToolDefinition(
            Tool("a", description: "x\u{1B}[31m\u{202E}y\u{0}\n" + String(repeating: "é", count: 4_000)),
            instructions: nil, parameters: nil, showsExternalSources: false)
        let text = try #require(tool.tool.description)
        #expect(text.hasPrefix("x[31my\né"))
        #expect(text.utf8.count <= 4 << 10 && text.utf8.count > (4 << 10) - 2)
    }
}
