"""The providers of a soak: programs that bring a tool to the daemon, and the agents that call it."""

import asyncio
import json

from wire import HTTP, LEGACY, MODERN, Gone, modern, modern_fields, parsed, text_of


class Providers:
    async def provider(self, channel, calls=True):
        """A program that brings a tool, and goes at some point of the conversation."""
        self.ledger.add("providers")
        name = f"p{self.word()}"
        http = HTTP(self.daemon)
        http.reader, http.writer = await asyncio.open_unix_connection(self.daemon.providers)
        patience = self.chance.choice([0, 1, 2, 3, 4, 4, 4, 4])
        try:
            http.send(
                "POST",
                {"Connection": "Upgrade", "Upgrade": "mcp"},
                {},
                f"/providers?channel={channel}&client={name}",
            )
            if patience == 0:
                return
            status, _ = await http.head()
            if status == 429:
                return self.ledger.add("providers that came too often")
            if status != 101:
                return self.ledger.wrong(f"a provider was answered {status}")
            agent = None
            era = self.chance.choice([MODERN, LEGACY])
            while line := await asyncio.wait_for(http.reader.readline(), 5):
                message = parsed(line)
                if message.get("method") == "tools/list":
                    self.ledger.count("question of a provider")
                for answer in self.provided(message, name, era):
                    http.writer.write(json.dumps(answer).encode() + b"\n")
                patience -= 1
                if message.get("method") != "tools/list" and patience > 0 or agent is not None:
                    continue
                if not calls or self.chance.random() < 0.7:
                    await self.pause()
                    return
                agent = asyncio.create_task(self.agent(channel, f"t-{name}"))
                agent.add_done_callback(lambda _: http.writer.close())
            if agent is None:
                # The other side has ended a provider that was still there.
                raise Gone
            # What it has found wrong is reported with the provider.
            await agent
        except asyncio.TimeoutError:
            self.ledger.wrong("nothing was asked of a provider for 5 s")
        finally:
            http.close(reset=self.chance.random() < 0.5)

    def provided(self, message, name, era):
        """What a provider says to a message."""
        number, method = message.get("id"), message.get("method")
        if number is None or method is None:
            return []
        server = {
            "serverInfo": {"name": name, "version": "1"},
            "capabilities": {"tools": {"listChanged": True}},
        }
        base = {"jsonrpc": "2.0", "id": number}
        if method == "server/discover" and era == MODERN:
            return [dict(base, result=dict(server, resultType="complete", supportedVersions=[MODERN]))]
        if method == "initialize":
            return [dict(base, result=dict(server, protocolVersion=LEGACY))]
        if method == "tools/list":
            tool = {"name": f"t-{name}", "description": "x", "inputSchema": {"type": "object"}}
            result = {"tools": [tool], "resultType": "complete", "ttlMs": 0, "cacheScope": "private"}
            return [dict(base, result=result)]
        if method == "tools/call":
            text = message["params"]["arguments"].get("text", "")
            content = [{"type": "text", "text": text}]
            return [dict(base, result={"content": content, "resultType": "complete"})]
        if method == "subscriptions/listen":
            params = {
                "notifications": {"toolsListChanged": True},
                "_meta": {"io.modelcontextprotocol/subscriptionId": number},
            }
            return [
                {"jsonrpc": "2.0", "method": "notifications/subscriptions/acknowledged", "params": params}
            ]
        return [dict(base, error={"code": -32601, "message": "Method not found"})]

    async def agent(self, channel, tool):
        """Calls what a provider has brought, when it is there already."""
        self.draw_as(f"agent of {tool}")
        self.ledger.begun["agent"] += 1
        http = HTTP(self.daemon)
        try:
            await http.open(False)
            for _ in range(20):
                word = self.word()
                http.send(
                    "POST",
                    modern_fields("tools/call", tool),
                    modern("tools/call", {"name": tool, "arguments": {"text": word}}),
                    f"/mcp/channels/{channel}",
                )
                _, _, message = await http.answer()
                if (message or {}).get("result") and not message["result"].get("isError"):
                    return self.ledger.judge("call of a provider", word, text_of(message))
                await asyncio.sleep(0.02)
        finally:
            http.close()
