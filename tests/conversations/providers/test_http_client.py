"""Connections to models' services."""

import asyncio
import socket

from conversations.providers.http_client import open_session


async def test_a_connection_that_is_silent_for_long_is_kept_alive() -> None:
    """A model may think for minutes without a word; that nobody is there any more is told by the kernel alone."""

    async def answer(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        await reader.readuntil(b"\r\n\r\n")
        writer.write(b"HTTP/1.1 200 OK\r\nContent-Length: 9\r\n\r\nthinking")  # a byte is to come
        await reader.read()
        writer.close()

    server = await asyncio.start_server(answer, "127.0.0.1", 0)
    port = server.sockets[0].getsockname()[1]
    async with server, open_session(5, None) as session, session.get(f"http://127.0.0.1:{port}/") as response:
        assert response.connection and response.connection.transport
        opened = response.connection.transport.get_extra_info("socket")
        assert opened.getsockopt(socket.SOL_SOCKET, socket.SO_KEEPALIVE)
        if hasattr(socket, "TCP_KEEPIDLE"):
            assert opened.getsockopt(socket.IPPROTO_TCP, socket.TCP_KEEPIDLE) == 60
