"""The web door: one module a room, thin views, server-rendered pages and fragments."""
