/// The view of the demo's tool `clock`: the server's time, in the user's zone and language.
enum ClockView {
    static let uri = "ui://demo/clock"

    static let html = DemoViewScript.page(
        title: "Clock",
        style: """
            main { text-align: center; }
            h1 { margin: 0; font-size: var(--font-heading-sm-size, 1rem); font-weight: 600; }
            time { display: block; font: 600 2.5rem/1.3 var(--font-mono, monospace);
              font-variant-numeric: tabular-nums; }
            #note { margin: 0 0 0.75rem; color: var(--color-text-secondary, light-dark(#555, #bbb)); }
            """,
        body: """
            <main>
            <h1 id="label">Clock</h1>
            <time id="time" data-state="waiting">--:--:--</time>
            <p id="note" role="status">Waiting for the server…</p>
            <button id="tick" disabled>Ask the server again</button>
            <button id="mode" hidden></button>
            </main>
            """, script: script)

    private static let script = #"""
        const byID = id => document.getElementById(id);
        const time = byID("time"), note = byID("note"), tick = byID("tick"), mode = byID("mode");
        let offset = null;
        function show() {
          if (offset === null) return;
          const now = new Date(Date.now() + offset), {locale, timeZone} = view.context;
          time.dateTime = now.toISOString();
          try {
            time.textContent = now.toLocaleTimeString(locale, {timeZone});
          } catch {
            time.textContent = now.toLocaleTimeString();
          }
        }
        function take(result) {
          const text = result?.structuredContent?.time;
          if (result?.isError || !text) return fail("The server did not tell the time.");
          offset = Date.parse(text) - Date.now();
          time.dataset.state = "running";
          note.textContent = (view.context.timeZone ?? "Local time") + " · by the server's clock";
          tick.disabled = !view.capabilities.serverTools;
          show();
        }
        function fail(text) {
          note.textContent = text;
          time.dataset.state = "failed";
        }
        function showMode() {
          const isFull = view.context.displayMode === "fullscreen";
          mode.hidden = !view.context.availableDisplayModes?.includes("fullscreen");
          mode.textContent = isFull ? "Smaller" : "Full screen";
        }
        const label = params => { byID("label").textContent = params.arguments?.label || "Clock"; };
        view.on("ui/notifications/tool-input-partial", label);
        view.on("ui/notifications/tool-input", label);
        view.on("ui/notifications/tool-result", take);
        view.on("ui/notifications/tool-cancelled", ({reason}) => fail("Cancelled. " + (reason ?? "")));
        view.on("ui/notifications/host-context-changed", () => { show(); showMode(); });
        tick.onclick = async () => {
          try {
            take(await view.request("tools/call", {name: "clock_tick", arguments: {}}));
          } catch (error) {
            fail(error.message);
          }
        };
        mode.onclick = async () => {
          const wanted = view.context.displayMode === "fullscreen" ? "inline" : "fullscreen";
          view.context.displayMode = (await view.request("ui/request-display-mode", {mode: wanted})).mode;
          showMode();
        };
        view.start({name: "clock", version: "1.0.0"}, {availableDisplayModes: ["inline", "fullscreen"]})
          .then(() => {
            showMode();
            setInterval(show, 1000);
            new ResizeObserver(() => view.reportSize()).observe(document.body);
            view.notify("notifications/message",
              {level: "info", logger: "clock", data: "The clock is there."});
          }, error => fail(error.message));
        """#
}
