"""A page without a browser: it takes what the viewer sends, and tells what came when.

    python -m benchmarks.page URL SECONDS [CORE ...]

prints a JSON object: `seconds`, when each message with a pose of the root came; `frames`, its x;
`nodes`, the last pose of each node of the scene; `bytes`, how much came while it played.
"""

from __future__ import annotations

import json
import os
import sys
import time
from typing import Any


def main() -> None:
    import msgspec
    import viser
    import zstandard
    from websockets.sync.client import connect

    url, length = sys.argv[1], float(sys.argv[2])
    if hasattr(os, "sched_setaffinity"):  # beside the viewer's core, not on it
        others = os.sched_getaffinity(0) if len(sys.argv) < 4 else set(map(int, sys.argv[3:]))
        os.sched_setaffinity(0, others)
    seconds, frames, nodes, received = [], [], {}, 0
    began = 0.0
    protocol: Any = f"viser-v{viser.__version__}"
    with connect(
        url.replace("http", "ws", 1), subprotocols=[protocol], compression=None, max_size=None
    ) as page:
        print("connected", flush=True)
        while not began or time.perf_counter() < began + length:
            try:
                data = page.recv(timeout=5.0)
            except TimeoutError:
                break
            now = time.perf_counter()
            assert isinstance(data, bytes)
            end = 16 + int.from_bytes(data[8:16], "little")
            inner = msgspec.msgpack.decode(zstandard.ZstdDecompressor().decompress(data[16:end]))
            for message in inner["messages"]:
                kind = message["type"]
                if kind == "SetPositionMessage":
                    nodes.setdefault(message["name"], {})["position"] = message["position"]
                    if message["name"] == "/robot0/0" and message["position"][0] > 0:
                        began = began or now
                        seconds.append(now)
                        frames.append(message["position"][0])
                elif kind == "SetOrientationMessage":
                    nodes.setdefault(message["name"], {})["wxyz"] = message["wxyz"]
            received += len(data) if began else 0
    print(json.dumps({"seconds": seconds, "frames": frames, "nodes": nodes, "bytes": received}))


if __name__ == "__main__":
    main()
