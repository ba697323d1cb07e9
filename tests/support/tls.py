"""What stands before a dashboard and ends TLS, as load balancers do: browsers speak https, the dashboard plain HTTP."""

import ipaddress
import socket
import ssl
import tempfile
import threading
from contextlib import suppress
from datetime import UTC, datetime, timedelta
from functools import cache
from pathlib import Path

from cryptography import x509
from cryptography.hazmat.primitives import hashes
from cryptography.hazmat.primitives.asymmetric import ec
from cryptography.hazmat.primitives.serialization import Encoding, NoEncryption, PrivateFormat

from tests.support.servers import hang_up


@cache
def certificate() -> bytes:
    """Loopback's, which nobody else vouches for, and its key."""
    key, name = ec.generate_private_key(ec.SECP256R1()), x509.Name([])
    now = datetime.now(UTC)
    bare = x509.CertificateBuilder(name, name, key.public_key(), 1, now, now + timedelta(days=1))
    here = x509.SubjectAlternativeName([x509.IPAddress(ipaddress.ip_address("127.0.0.1"))])
    bare = bare.add_extension(here, critical=True)  # as where there is no other name
    pem = key.private_bytes(Encoding.PEM, PrivateFormat.PKCS8, NoEncryption())
    return pem + bare.sign(key, hashes.SHA256()).public_bytes(Encoding.PEM)


@cache
def context() -> ssl.SSLContext:
    with tempfile.TemporaryDirectory() as folder:
        (file := Path(folder) / "pem").write_bytes(certificate())
        made = ssl.create_default_context(ssl.Purpose.CLIENT_AUTH)
        made.load_cert_chain(file)
    return made


class Terminator:
    """Listens at `port`; what comes goes on to the port `behind`, which is set once it is known."""

    def __init__(self) -> None:
        self.behind = 0
        self.listener = socket.create_server(("127.0.0.1", 0))
        self.port = int(self.listener.getsockname()[1])
        threading.Thread(target=self.accept, daemon=True).start()

    def accept(self) -> None:
        with suppress(OSError):  # it was closed
            while True:
                threading.Thread(target=self.serve, args=(self.listener.accept()[0],), daemon=True).start()

    def serve(self, raw: socket.socket) -> None:
        behind = ("127.0.0.1", self.behind)
        with (
            suppress(OSError),
            context().wrap_socket(raw, server_side=True) as near,
            socket.create_connection(behind) as far,
        ):
            back = threading.Thread(target=pump, args=(far, near), daemon=True)
            back.start()
            pump(near, far)
            back.join()

    def onward(self) -> socket.socket:
        return socket.create_connection(("127.0.0.1", self.behind))

    def close(self) -> None:
        hang_up(self.listener)
        self.listener.close()


def pump(source: socket.socket, to: socket.socket) -> None:
    with suppress(OSError):  # either side may go
        while got := source.recv(1 << 16):
            to.sendall(got)
    hang_up(to)
