"""The yardstick: a server that only sends back what it gets, on the same libraries and nothing of ours.

    python -m bench.echo

What a message costs it says how fast this machine is just now, and how disturbed.
"""

from __future__ import annotations

import socket

import uvicorn
from starlette.applications import Starlette
from starlette.routing import WebSocketRoute
from starlette.websockets import WebSocket, WebSocketDisconnect

from heartroom.client import SUBPROTOCOL


async def echo(websocket: WebSocket) -> None:
    await websocket.accept(SUBPROTOCOL)
    try:
        while True:
            await websocket.send_bytes(await websocket.receive_bytes())
    except WebSocketDisconnect:
        pass


def main() -> None:
    listening = socket.create_server(("127.0.0.1", 0), backlog=2048)
    print(f"echo at http://127.0.0.1:{listening.getsockname()[1]}", flush=True)
    config = uvicorn.Config(
        Starlette(routes=[WebSocketRoute("/ws", echo)]),
        loop="uvloop",
        ws="websockets-sansio",
        ws_per_message_deflate=False,
        access_log=False,
        log_config=None,
    )
    uvicorn.Server(config).run(sockets=[listening])


if __name__ == "__main__":
    main()
