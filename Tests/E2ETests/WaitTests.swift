import MCPCore
import TestSupport
import Testing

extension E2E {
    /// Answers that wait: they can be reached, say so, and accept by no way.
    @Suite struct WaitTests {
        /// Makes the answers of a question that accepts wait again, and tries each way; what each of them met.
        static let everyWay = """
            const node = document.querySelector('.question'), yes = node.querySelector('.yes');
            const answers = node.querySelector('.answers');
            const press = (target, type, Kind, what) =>
              target.dispatchEvent(new Kind(type, { bubbles: true, cancelable: true, ...what }));
            window.said = [];
            const see = () => said.at(-1) === node.querySelector('.hint').innerText.trim()
              || said.push(node.querySelector('.hint').innerText.trim());
            new MutationObserver(see).observe(node, { attributes: true, subtree: true });
            let count = 0;
            const send = fetch;
            window.fetch = (...all) => (String(all[0]).includes('approvals') && count++, send(...all));
            press(node.querySelector('h2'), 'pointerdown', PointerEvent);
            yes.focus();
            const box = yes.getBoundingClientRect();
            const met = document.elementFromPoint(box.left + box.width / 2, box.top + box.height / 2);
            press(met, 'pointerdown', PointerEvent);
            yes.click();
            const keys = ['Enter', ' ', 'Tab'].map(key => press(yes, 'keydown', KeyboardEvent, { key }));
            node.requestSubmit();
            window.fetch = send;
            return [yes.ariaDisabled, document.activeElement === yes, met === answers, keys, count];
            """

        /// Who presses too early is told so, and when it can be pressed.
        static func impatience(_ page: HostPage) async throws {
            try await page.run("document.querySelector('.question').scrollIntoView({ block: 'center' })")
            try await page.press()
            try await page.wait(
                "\(HostPage.reading) return document.querySelector('.question .yes').ariaDisabled === null")
            #expect(try await page.run(everyWay) == ["true", true, true, [false, false, true], 0])
            try await page.wait("return said.at(-1) === 'You can answer now.'")
            #expect(try await page.run("return said.includes('Wait a moment, then press once.')") == true)
            #expect(
                try await page.run(
                    "const yes = document.querySelector('.question .yes');"
                        + "return [yes.ariaDisabled, document.activeElement === yes]") == [nil, true])
        }

        private func with(_ test: (HostPage, ShownView, ViewServer) async throws -> Void) async throws {
            let server = try ViewServer("one", views: ["show": TestView.html()])
            try await HostPage.with([server]) { page in
                let view = try await page.show("show")
                try await view.begin("wipe", "tools/call", ["name": "wipe", "arguments": ["path": "/a"]])
                _ = try await page.question()
                try await test(page, view, server)
            }
        }

        @Test(arguments: [(1280, 900), (1280, 400), (320, 480)])
        func whoPressesTooEarlyIsTold(_ width: Int, _ height: Int) async throws {
            try await with { page, view, server in
                try await page.browser.resize(width, height)
                try await Self.impatience(page)
                #expect(server.calls(of: "wipe").isEmpty)
                try await page.answer("yes")
                #expect(try await view.end(of: "wipe")["result"] != nil)
            }
        }

        /// What a view draws can hold up the picture: time counts only while the screen shows frames, and a press that
        /// arrives late counts for when it was made.
        static func onlyWhatTheScreenShowedCounts(_ page: HostPage, _ view: ShownView) async throws {
            try await page.run(
                """
                const frame = requestAnimationFrame, held = [];
                window.requestAnimationFrame = one => held.push(one);
                window.goOn = () => {
                  window.requestAnimationFrame = frame;
                  held.forEach(one => frame(one));
                };
                """)
            try await view.begin("wipe", "tools/call", ["name": "wipe", "arguments": ["path": "/a"]])
            _ = try await page.question()
            try await page.run("document.querySelector('.question').scrollIntoView({ block: 'center' })")
            try await page.press()
            let waits = try await page.run(
                """
                return (async () => {
                  await new Promise(done => setTimeout(done, 1500));
                  window.pressedAt = performance.now();
                  const yes = document.querySelector('.question .yes'), waits = yes.ariaDisabled;
                  goOn();
                  return waits;
                })()
                """)
            #expect(waits == "true")
            let isReady = "return document.querySelector('.question .yes').ariaDisabled === null"
            try await page.wait(isReady)
            for event in ["MouseEvent('click'", "KeyboardEvent('keydown'"] {
                let press = """
                    const event = new \(event), { bubbles: true, cancelable: true, key: 'Enter' });
                    Object.defineProperty(event, 'timeStamp', { value: pressedAt });
                    document.querySelector('.question .yes').dispatchEvent(event);
                    return document.querySelector('.question .yes').ariaDisabled;
                    """
                #expect(try await page.run(press) == "true")
                try await page.wait(isReady)
            }
            try await page.agree(".question .yes")
            #expect(try await view.end(of: "wipe")["result"] != nil)
        }

        @Test func timeCountsOnlyWhileFramesAreShown() async throws {
            let server = try ViewServer("one", views: ["show": TestView.html()])
            try await HostPage.with([server]) { page in
                try await Self.onlyWhatTheScreenShowedCounts(page, page.show("show"))
                #expect(server.calls(of: "wipe").count == 1)
            }
        }

        /// Where a part of the question is out of sight, waiting is of no use.
        @Test func whatIsOutOfSightIsNamed() async throws {
            try await with { page, _, server in
                try await page.run(
                    """
                    const node = document.querySelector('.question'), main = document.querySelector('main');
                    document.getElementById('cards').style.paddingBottom = '3000px';
                    main.scrollTop += node.getBoundingClientRect().top - main.getBoundingClientRect().top + 30;
                    """)
                try await page.wait("return document.querySelector('.question .yes').ariaDisabled")
                try await page.browser.wait(
                    """
                    document.querySelector('.question .yes').click();
                    return document.querySelector('.question .hint').innerText.includes('First scroll');
                    """)
                #expect(server.calls(of: "wipe").isEmpty)
                try await page.answer("no")
            }
        }

        /// Tab reaches an answer that waits, and no key presses it.
        @Test func anAnswerThatWaitsIsReachedByTab() async throws {
            try await with { page, view, server in
                try await page.run("document.querySelector('.question').scrollIntoView({ block: 'center' })")
                try await page.browser.hover("[data-view=\"\(view.id)\"] iframe")
                try await page.wait("return document.querySelector('.question').dataset.why === 'press'")
                try await page.run("document.querySelector('.question .no').focus()")
                for _ in 1 ... 2 {
                    try await page.browser.press("\u{E004}")
                    #expect(
                        try await page.run(
                            "const at = document.activeElement; return [at.matches('.answers > *'), at.ariaDisabled]"
                        )
                            == [true, "true"])
                    try await page.browser.press("\u{E007} ")
                }
                #expect(
                    try await page.run("return document.querySelector('.question .hint').innerText.trim()")
                        == "A view may cover this. To agree, press here first.")
                #expect(server.calls(of: "wipe").isEmpty)
                try await page.answer("yes")
                #expect(try await view.end(of: "wipe")["result"] != nil)
            }
        }
    }
}
