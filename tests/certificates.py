"""A certificate for this machine that whoever made it trusts."""

import urllib.request
from collections.abc import Iterator
from contextlib import contextmanager
from datetime import timedelta
from ipaddress import ip_address
from pathlib import Path

import pytest
from cryptography import x509
from cryptography.hazmat.primitives.asymmetric import ec, rsa
from cryptography.hazmat.primitives.hashes import SHA256
from cryptography.hazmat.primitives.serialization import Encoding, NoEncryption, PrivateFormat
from cryptography.x509.oid import NameOID
from django.utils import timezone


def self_signed(folder: Path) -> Path:
    """A file with the certificate of 127.0.0.1 and its key."""
    key = ec.generate_private_key(ec.SECP256R1())
    name = x509.Name([x509.NameAttribute(NameOID.COMMON_NAME, "127.0.0.1")])
    now = timezone.now()
    own = x509.SubjectKeyIdentifier.from_public_key(key.public_key())
    certificate = (
        x509.CertificateBuilder(name, name, key.public_key(), x509.random_serial_number())
        .not_valid_before(now - timedelta(days=1))
        .not_valid_after(now + timedelta(days=1))
        .add_extension(x509.SubjectAlternativeName([x509.IPAddress(ip_address("127.0.0.1"))]), critical=False)
        .add_extension(x509.BasicConstraints(ca=True, path_length=0), critical=True)
        .add_extension(own, critical=False)
        .add_extension(x509.AuthorityKeyIdentifier.from_issuer_subject_key_identifier(own), critical=False)
        .sign(key, SHA256())
    )
    plain = (Encoding.PEM, PrivateFormat.PKCS8, NoEncryption())
    path = folder / "certificate.pem"
    path.write_bytes(certificate.public_bytes(Encoding.PEM) + key.private_bytes(*plain))
    return path


@contextmanager
def trusted(folder: Path) -> Iterator[Path]:
    """Such a file, whose certificate this process's clients take for genuine meanwhile."""
    path = self_signed(folder)
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("SSL_CERT_FILE", str(path))
        # An opener that was made before knows the certificates of then.
        urllib.request.install_opener(urllib.request.build_opener())
        yield path
    urllib.request.install_opener(urllib.request.build_opener())


def signing_pair(folder: Path, name: str) -> tuple[Path, Path]:
    """A key, and a certificate that says whose it is: what one side of SAML signs with. ``NAME.key`` and ``NAME.pem``."""
    key = rsa.generate_private_key(65537, 2048)
    subject, now = x509.Name([x509.NameAttribute(NameOID.COMMON_NAME, name)]), timezone.now()
    certificate = (
        x509.CertificateBuilder(subject, subject, key.public_key(), x509.random_serial_number())
        .not_valid_before(now - timedelta(days=1))
        .not_valid_after(now + timedelta(days=1))
        .sign(key, SHA256())
    )
    paths = folder / f"{name}.key", folder / f"{name}.pem"
    paths[0].write_bytes(key.private_bytes(Encoding.PEM, PrivateFormat.PKCS8, NoEncryption()))
    paths[1].write_bytes(certificate.public_bytes(Encoding.PEM))
    return paths
