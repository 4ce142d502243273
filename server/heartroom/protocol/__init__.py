"""The words between server and client: messages in and out, codes, bytes. See docs/protocol.md.

Knows nothing of sessions, stores or sockets.
"""

SUBPROTOCOL = "heartroom.v1"
