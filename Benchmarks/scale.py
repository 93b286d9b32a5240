#!/usr/bin/env python3
"""What many of something cost: event loops, changes told to many listeners, and calls beside idle connections.

scale.py BENCHMARK-SERVER MCP-SERVER"""
import resource
import selectors
import shutil
import socket
import sys
import time

import clients
import run
import streams


def loops(server):
    """The same load from wrk on one loop and more."""
    if not shutil.which("wrk"):
        return print("wrk is missing: the rows with several loops are left out")
    print(f"\nEvent loops, 64 connections from wrk\n{'':34}{'calls':>12}{'CPU s per 100k':>16}")
    for count in (1, 2, 4):
        port = clients.free_port()
        run.loads(f"{count}", [server, "--listen", str(port), str(count)], port, tool="raw")


def fan_out(server, count=1000, rounds=50):
    """From the call that changes the list until the last of many listeners has heard of it."""
    port = clients.free_port()
    process = streams.spawn([server, "--listen", str(port), "1"], port)
    try:
        selector = selectors.DefaultSelector()
        for number in range(count):
            sock = socket.create_connection(("127.0.0.1", port), 20)
            streams.listen(sock, port, number)
            selector.register(sock, selectors.EVENT_READ)
        caller = socket.create_connection(("127.0.0.1", port), 20)
        times = []
        before = run.processor_seconds(process.pid)
        for _ in range(rounds):
            start = time.perf_counter()
            streams.call(caller, port, 0, "change", {}, b"told")
            told = 0
            while told < count:
                for key, _ in selector.select(10):
                    told += key.fileobj.recv(65536).count(b"list_changed")
            times.append(time.perf_counter() - start)
        used = (run.processor_seconds(process.pid) - before) / rounds / count
        middle = sorted(times)[rounds // 2] * 1000
        print(f"\nA change told to {count} listeners: {middle:.1f} ms until the last has it, of which 20 ms are for\n"
              f"collecting; {used * 1e6:.1f} µs of the server's processor for each")
    finally:
        process.terminate()
        process.wait()


def beside_idle(server, count):
    """The time of one call while many connections do nothing."""
    port = clients.free_port()
    process = streams.start(server, port)
    print(f"\nCalls beside idle connections\n{'idle':>34}{'p50 µs':>10}{'CPU s per 100k':>16}")
    try:
        idle = []
        for wanted in (0, count):
            while len(idle) < wanted:
                sock = socket.create_connection(("127.0.0.1", port), 20)
                streams.call(sock, port, 0)
                idle.append(sock)
            caller = socket.create_connection(("127.0.0.1", port), 20)
            times = []
            before = run.processor_seconds(process.pid)
            for _ in range(20_000):
                start = time.perf_counter()
                streams.call(caller, port, 0)
                times.append(time.perf_counter() - start)
            used = run.processor_seconds(process.pid) - before
            print(f"{wanted:>34,}{sorted(times)[10_000] * 1e6:10.1f}{used / 20_000 * 1e5:16.2f}", flush=True)
    finally:
        process.terminate()
        process.wait()


if __name__ == "__main__":
    soft, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    resource.setrlimit(resource.RLIMIT_NOFILE, (hard, hard))
    loops(sys.argv[1])
    fan_out(sys.argv[1])
    beside_idle(sys.argv[2], min(10_000, hard - 1000))
