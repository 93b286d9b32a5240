import MCPApps
import MCPCore

/// The checks on the demo's conformance page.
enum ConformanceScript {
    static let text = #"""
        const ids = \#(JSONValue.array(ConformanceView.ids.map { .string($0) }).serialized());
        const rows = new Map(), summary = document.getElementById("summary");
        for (const id of ids) {
          const row = document.createElement("li"), name = document.createElement("code");
          name.textContent = id;
          row.dataset.id = id;
          row.append(name, document.createElement("span"));
          document.getElementById("rows").append(row);
          rows.set(id, row);
          set(id, "pending", "");
        }
        function set(id, state, detail) {
          rows.get(id).dataset.state = state;
          rows.get(id).lastChild.textContent = detail;
        }
        function check(id, isRight, detail = "") { set(id, isRight ? "pass" : "fail", detail); }
        async function run(id, body) {
          try {
            const detail = await body();
            if (rows.get(id).dataset.state === "pending") set(id, "pass", detail ?? "");
          } catch (error) {
            set(id, "fail", error.message);
          }
        }
        const need = (isRight, text) => { if (!isRight) throw new Error(text); };
        const pause = ms => new Promise(resolve => setTimeout(resolve, ms));
        const within = (promise, ms, text) => Promise.race([promise,
          pause(ms).then(() => { throw new Error(text); })]);
        const call = (name, args = {}) => view.request("tools/call", {name, arguments: args});
        const inState = state => ids.filter(id => rows.get(id).dataset.state === state);
        // Some checks exclude each other, and some end after the page: the server remembers earlier runs.
        async function report() {
          const {structuredContent} = await call("conformance_record", {passed: inState("pass")});
          for (const id of structuredContent.passed)
            if (rows.get(id).dataset.state !== "fail" && rows.get(id).dataset.state !== "pass")
              set(id, "pass", "in an earlier run");
          const counts = ["pass", "fail", "skip", "pending"].map(state => inState(state).length);
          summary.textContent = `${counts[0]} pass, ${counts[1]} fail, ${counts[2]} skipped, `
            + `${counts[3]} need an outside action`;
        }
        const heard = {input: null, result: null, partials: 0, late: 0};
        const over = Promise.withResolvers?.() ?? (() => {
          const made = {};
          made.promise = new Promise(resolve => { made.resolve = resolve; });
          return made;
        })();

        view.on("ui/notifications/tool-input-partial", () => {
          heard.partials += 1;
          if (heard.input) heard.late += 1;
        });
        view.on("ui/notifications/tool-input", params => {
          check("lifecycle/tool-input", !heard.input && !heard.result,
            "arguments " + JSON.stringify(params.arguments));
          heard.input = params.arguments ?? {};
        });
        view.on("ui/notifications/tool-result", result => {
          check("lifecycle/tool-result", heard.input && !heard.result, result.content?.[0]?.text ?? "");
          heard.result = result;
          set("lifecycle/tool-cancelled", "skip", "the call was not cancelled");
          check("capabilities/mimetypes-required", result.structuredContent?.clientSupportsUI === true);
          over.resolve();
        });
        view.on("ui/notifications/tool-cancelled", ({reason}) => {
          check("lifecycle/tool-cancelled", !heard.result, reason ?? "");
          set("lifecycle/tool-result", "skip", "the call was cancelled");
          set("capabilities/mimetypes-required", "skip", "the call was cancelled");
          over.resolve();
        });
        view.on("ui/notifications/host-context-changed", changes => {
          check("context/context-changed", Object.keys(changes).length > 0, Object.keys(changes).join(", "));
          if (summary.dataset.state === "done") report();
        });
        view.on("ui/resource-teardown", async () => {
          set("lifecycle/teardown-notify", "pass", "");
          await report();
          await pause(300);
          // A host that does not wait has removed this page by now.
          set("lifecycle/teardown-await", "pass", "");
          await report();
        });

        // Whether the policy stops a request, by the event that only the policy causes.
        function violation(url) {
          return new Promise(resolve => {
            const seen = event => {
              if (!event.blockedURI.startsWith(new URL(url).origin)) return;
              document.removeEventListener("securitypolicyviolation", seen);
              resolve(event);
            };
            document.addEventListener("securitypolicyviolation", seen);
            fetch(url, {mode: "no-cors"}).catch(() => {});
            setTimeout(() => resolve(null), 2000);
          });
        }

        async function sandbox() {
          await run("security/sandbox-proxy-required", () =>
            need(parent !== top, "the parent is the host page"));
          await run("security/sandbox-distinct-origin", () => {
            try { void top.location.href; } catch { return; }
            throw new Error("the host's address can be read");
          });
          await run("security/sandbox-permissions", () => {
            need(origin !== "null", "the origin is opaque");
            return origin;
          });
        }

        async function policy() {
          const domains = view.capabilities.sandbox?.csp?.connectDomains ?? [];
          const blocked = await violation("https://undeclared.invalid/");
          await run("security/csp-no-loosening", () => {
            need(blocked?.effectiveDirective === "connect-src",
              "a request to another origin was not blocked");
          });
          if (domains.length === 0) {
            const local = await violation("http://127.0.0.1:9/");
            await run("security/csp-default-deny", () => need(local, "a request was not blocked"));
            for (const id of ["security/csp-construct-from-domains", "security/csp-allow-declared"])
              set(id, "skip", "nothing is declared");
            return;
          }
          set("security/csp-default-deny", "skip", "an origin is declared");
          await run("security/csp-construct-from-domains", () => {
            const policy = blocked?.originalPolicy ?? "";
            for (const part of [...domains, "object-src 'none'", "frame-src 'none'"])
              need(policy.includes(part), "the policy lacks " + part);
            return policy;
          });
          await within(over.promise, 60000, "the call does not end").catch(() => {});
          const url = heard.input?.origin;
          if (!url) return set("security/csp-allow-declared", "skip", "pass the argument origin");
          await run("security/csp-allow-declared", async () => {
            await within(fetch(url, {mode: "no-cors"}), 5000, "no answer from " + url);
          });
        }

        async function tools() {
          await run("tools/proxy-call", async () => {
            const sent = {text: "ü \"q\"", list: [1, [2.5, null]], object: {flag: true, nothing: null}};
            const got = await call("conformance_probe", sent);
            need(JSON.stringify(got.structuredContent) === JSON.stringify(sent), "the echo differs");
            need(got.content.length === 1 && got._meta?.["demo/probe"] === "echo",
              "content or _meta is missing");
          });
          await run("visibility/app-tool-call-guard", async () => {
            const answer = await call("model_only_probe").catch(error => error);
            need(answer instanceof Error, "the call went through");
            return answer.message;
          });
          await run("capabilities/server-passthrough", async () => {
            const {resources} = await view.request("resources/list");
            need(resources.some(resource => resource.uri === "ui://demo/conformance"),
              "the list lacks this page");
          });
        }

        async function display() {
          const {displayMode, availableDisplayModes} = view.context;
          const pip = (await view.request("ui/request-display-mode", {mode: "pip"})).mode;
          check("display/no-undeclared-mode", pip !== "pip", pip);
          check("display/decline-undeclared", pip !== "pip", pip);
          check("display/unavailable-returns-current", pip === displayMode, pip);
          await run("display/return-resulting-mode", async () => {
            const wanted = availableDisplayModes?.includes("fullscreen") ? "fullscreen" : "inline";
            const {mode} = await view.request("ui/request-display-mode", {mode: wanted});
            need(["inline", "fullscreen"].includes(mode), "the mode is " + mode);
            const back = (await view.request("ui/request-display-mode", {mode: "inline"})).mode;
            need(back === "inline", "the mode stays " + back);
            return mode;
          });
          await run("dimensions/listen-size-changed", async () => {
            const height = innerHeight === 150 ? 170 : 150;
            view.notify("ui/notifications/size-changed", {height});
            const follows = () => Math.abs(innerHeight - height) < 2;
            for (let look = 0; look < 50 && !follows(); look += 1) await pause(100);
            need(follows(), "the frame has " + innerHeight + " px instead of " + height);
          });
        }

        function button(id, row, body) {
          document.getElementById(id).onclick = async () => {
            set(row, "pending", "");
            await run(row, body);
            await report();
          };
        }
        button("open-link", "links/open-external", async () => {
          const refused = await view.request("ui/open-link", {url: "javascript:alert(1)"})
            .catch(error => error);
          need(refused instanceof Error || refused.isError, "javascript: was opened");
          const {isError} = await view.request("ui/open-link", {url: "https://example.com/from-a-view"});
          need(!isError, "denied");
        });
        button("message", "messages/add-to-conversation", async () => {
          const content = [{type: "text", text: "Hello from the conformance page."}];
          const {isError} = await view.request("ui/message", {role: "user", content});
          need(!isError, "denied");
        });
        button("context", "model-context/last-wins", async () => {
          for (const text of ["first context", "second context"])
            await view.request("ui/update-model-context", {content: [{type: "text", text}]});
        });
        document.getElementById("download").onclick = () => view.request("ui/download-file", {contents: [{
          type: "resource",
          resource: {uri: "file:///../../conformance.txt", mimeType: "text/plain", text: "saved\n"},
        }]}).catch(() => {});
        document.getElementById("teardown").onclick = () => view.notify("ui/notifications/request-teardown");

        async function main() {
          await sandbox();
          const capabilities = {availableDisplayModes: ["inline", "fullscreen"]};
          const answer = await view.start({name: "conformance", version: "1.0.0"}, capabilities);
          check("lifecycle/initialize-capabilities", typeof answer.hostCapabilities === "object");
          check("context/initialize-hostcontext", Object.keys(answer.hostContext ?? {}).length > 0,
            Object.keys(answer.hostContext ?? {}).join(", "));
          view.notify("notifications/message",
            {level: "info", logger: "conformance", data: "The checks begin."});
          await Promise.all([policy(), tools()]);
          await display();
          await within(over.promise, 60000, "the call does not end").catch(() => {});
          if (heard.partials === 0) {
            set("lifecycle/tool-input-partial", "skip", "no model wrote the arguments");
          } else {
            check("lifecycle/tool-input-partial", heard.late === 0, heard.partials + " partial inputs");
          }
          check("lifecycle/tool-input-partial-stop", heard.late === 0);
          await report();
          summary.dataset.state = "done";
          new ResizeObserver(() => view.reportSize()).observe(document.body);
        }
        main().catch(error => {
          summary.textContent = error.message;
          summary.dataset.state = "failed";
        });
        """#
}
