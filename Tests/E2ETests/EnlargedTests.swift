import MCPCore
import TestSupport
import Testing

extension E2E {
    /// Questions on a page that two fingers have enlarged.
    @Suite struct EnlargedTests {
        private static let sleep = "await new Promise(done => setTimeout(done, 1500));"
        private static let boxes =
            "const boxes = [...document.querySelectorAll('.question :is(.words, h2, .topic)')];"

        /// Enlarged by two fingers, the window shows a part of a question: all of them have been seen before it is
        /// agreed to.
        @Test func anEnlargedQuestionIsSeenPartByPart() async throws {
            let server = try ViewServer("one", views: ["show": TestView.html()])
            try await HostPage.with([server]) { page in
                try await page.browser.resize(1280, 1200)
                let view = try await page.show("show")
                try await page.browser.enlarge(2.5)
                try await view.begin("wipe", "tools/call", ["name": "wipe", "arguments": ["path": "/a"]])
                _ = try await page.question()
                // All of it is in the layout, uncovered, and the window shows a half of it.
                for (side, isClosed) in [("left", true), ("right", false)] {
                    try await show(side, of: page)
                    #expect(
                        try await page.run(
                            """
                            return (async () => {
                              \(Self.sleep)
                              const box = document.querySelector('.question').getBoundingClientRect(), shown = visualViewport;
                              return [box.width > shown.width, box.bottom < shown.offsetTop + shown.height,
                                !!document.querySelector('.question .yes').ariaDisabled];
                            })()
                            """) == [true, true, .bool(isClosed)])
                }
                try await page.wait("return document.querySelector('.question .yes').ariaDisabled === null")
                try await page.browser.enlarge(1)
                try await page.answerWhileMoving("yes")
                #expect(try await view.end(of: "wipe")["result"] != nil)
            }
            try await Browser.shared.value.enlarge(1)
        }

        /// Enlarged, the text that scrolls inside of a question is seen in both directions: its end is not all of it.
        @Test func theLongTextOfAnEnlargedQuestionIsSeenPartByPart() async throws {
            let server = try ViewServer("one", views: ["show": TestView.html()])
            let folder = TemporaryDirectory()
            try folder.write("model.jsonl", #"{"text":"Hello."}"# + "\n")
            try await HostPage.with([server], flags: ["--model", "script:\(folder.path)/model.jsonl"]) {
                page in
                try await page.browser.resize(1280, 1200)
                let view = try await page.show("show")
                try await page.browser.enlarge(2.5)
                let long = (1 ... 60).map { "line \($0)" }.joined(separator: "\n")
                try await view.begin(
                    "long", "ui/message",
                    ["role": "user", "content": [["type": "text", "text": .string(long)]]])
                try await page.waitForText(
                    "more lines: scroll to the end", in: ".question .extent:not([hidden])")
                // Its end on the left and on the right: the rest of it was never in sight.
                for side in ["left", "right"] {
                    try await show(side, of: page)
                    try await page.run("\(HostPage.reading) return (async () => { \(Self.sleep) })()")
                }
                #expect(
                    try await page.run("return !!document.querySelector('.question .yes').ariaDisabled")
                        == true)
                #expect(
                    try await page.run(
                        "return document.querySelector('.question').matches('[data-why=part]')")
                        == true)
                // Each line of it, on both sides.
                for side in ["left", "right"] {
                    try await show(side, of: page)
                    try await page.run("\(Self.boxes) for (const box of boxes) box.scrollTop = 0")
                    var isAtEnd = false
                    while !isAtEnd {
                        isAtEnd =
                            try await page.run(
                                """
                                return (async () => {
                                  \(Self.sleep)
                                  \(Self.boxes)
                                  const before = boxes.map(box => box.scrollTop);
                                  for (const box of boxes) box.scrollTop += box.clientHeight * 0.8;
                                  return boxes.every((box, i) => box.scrollTop === before[i]);
                                })()
                                """) == true
                    }
                }
                try await page.wait("return document.querySelector('.question .yes').ariaDisabled === null")
                try await page.browser.enlarge(1)
                try await page.answer("no")
            }
            try await Browser.shared.value.enlarge(1)
        }

        /// Moves the part that an enlarged page shows to a side of the question.
        private func show(_ side: String, of page: HostPage) async throws {
            // A gesture may end early: it is repeated from where it has led.
            for _ in 1 ... 5 {
                let way = try await page.run(
                    """
                    const box = document.querySelector('.question').getBoundingClientRect(), shown = visualViewport;
                    const x = arguments[0] === 'left' ? box.left - 10 : box.right + 10 - shown.width;
                    return [shown.offsetLeft - x, shown.offsetTop - (box.top - 10)].map(n => Math.round(n) || 0);
                    """, .string(side))
                if way.arrayValue?.allSatisfy({ abs($0.doubleValue ?? 0) <= 2 }) == true { return }
                try await page.browser.pan(way[0] ?? 0, way[1] ?? 0)
            }
            Issue.record("the window does not show the \(side) of the question")
        }
    }
}
