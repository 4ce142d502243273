"""The outermost layer: the websocket endpoint, pages and HTTP API, settings, identity.

Knows sessions; nothing knows it.
"""
