/// The view of the demo's tool `clock`: the server's time, in the user's time zone and language.
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
            <button data-mode="fullscreen" data-label="Full screen" hidden></button>
            <button data-mode="pip" data-label="Keep in sight" hidden></button>
            </main>
            """, script: script)

    private static let script = #"""
        const byID = id => document.getElementById(id);
        const time = byID("time"), note = byID("note"), tick = byID("tick");
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
          if (result?.isError || !text) return fail("The server did not report the time.");
          offset = Date.parse(text) - Date.now();
          time.dataset.state = "running";
          note.textContent = (view.context.timeZone ?? "Local time") + " · according to the server's clock";
          tick.disabled = !view.capabilities.serverTools;
          show();
        }
        function fail(text) {
          note.textContent = text;
          time.dataset.state = "failed";
        }
        function showMode() {
          for (const button of document.querySelectorAll("[data-mode]")) {
            const {mode, label} = button.dataset;
            button.hidden = !view.context.availableDisplayModes?.includes(mode);
            button.textContent = view.context.displayMode === mode ? "Put back" : label;
          }
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
        document.querySelector("main").onclick = async ({target}) => {
          if (!target.dataset.mode) return;
          const mode = view.context.displayMode === target.dataset.mode ? "inline" : target.dataset.mode;
          view.context.displayMode = (await view.request("ui/request-display-mode", {mode})).mode;
          showMode();
        };
        view.start({name: "clock", version: "1.0.0"},
          {availableDisplayModes: ["inline", "fullscreen", "pip"]})
          .then(() => {
            showMode();
            setInterval(show, 1000);
            new ResizeObserver(() => view.reportSize()).observe(document.body);
            view.notify("notifications/message",
              {level: "info", logger: "clock", data: "The clock is ready."});
          }, error => fail(error.message));
        """#
}
