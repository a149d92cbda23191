"""OpenLDAP's server as a process, with people and groups that a test writes."""

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

from tests.certificates import self_signed
from tests.services import free_port, program, until_left
from tests.waiting import until

SUFFIX = "dc=example,dc=org"
ADMIN, PASSWORD = f"cn=admin,{SUFFIX}", "the directory's own"
MODULES = Path("/usr/lib/ldap")
CONFIGURATION = """
include /etc/ldap/schema/core.schema
include /etc/ldap/schema/cosine.schema
include /etc/ldap/schema/inetorgperson.schema
{modules}
database mdb
suffix "{suffix}"
rootdn "{admin}"
rootpw "{password}"
directory {folder}
{tls}
"""


@dataclass(frozen=True)
class Directory:
    """``secure_url`` speaks TLS from the start, ``url`` where StartTLS asks for it; both with ``certificate``."""

    url: str
    secure_url: str
    certificate: Path

    def write(self, name: str, **attributes: list[str]) -> None:
        """Put an entry in the place of the one that has this name."""
        import ldap.modlist  # noqa: PLC0415  # compiled by `make test` alone; other runs only collect the tests

        connection = ldap.initialize(self.url)
        connection.simple_bind_s(ADMIN, PASSWORD)
        dn = f"{name},{SUFFIX}" if name else SUFFIX
        values = {key: [value.encode() for value in each] for key, each in attributes.items()}
        try:
            connection.add_s(dn, ldap.modlist.addModlist(values))
        except ldap.ALREADY_EXISTS:
            changes = [(ldap.MOD_REPLACE, key, each) for key, each in values.items() if key != "objectClass"]
            connection.modify_s(dn, changes)
        finally:
            connection.unbind_s()

    def person(self, uid: str, password: str, **attributes: str) -> str:
        values = {name: [value] for name, value in ({"cn": uid, "sn": uid} | attributes).items()}
        self.write(f"uid={uid},ou=people", objectClass=["inetOrgPerson"], uid=[uid], userPassword=[password], **values)
        return f"uid={uid},ou=people,{SUFFIX}"

    def group(self, name: str, *members: str) -> str:
        self.write(f"cn={name},ou=groups", objectClass=["groupOfNames"], cn=[name], member=list(members) or [ADMIN])
        return f"cn={name},ou=groups,{SUFFIX}"


@contextmanager
def directory_server(folder: Path) -> Iterator[Directory]:
    url, secure_url = f"ldap://127.0.0.1:{free_port()}", f"ldaps://127.0.0.1:{free_port()}"
    certificate = self_signed(folder)
    tls = f"TLSCertificateFile {certificate}\nTLSCertificateKeyFile {certificate}"
    modules = f"modulepath {MODULES}\nmoduleload back_mdb" if MODULES.is_dir() else ""
    data = folder / "data"
    data.mkdir()
    (folder / "slapd.conf").write_text(
        CONFIGURATION.format(modules=modules, suffix=SUFFIX, admin=ADMIN, password=PASSWORD, folder=data, tls=tls)
    )
    slapd = program("OPENBOOK_TEST_SLAPD", "slapd")
    # The shell ends it with its own input; with -d it stays in the foreground.
    shell = ["/bin/sh", "-c", '"$@" 2>/dev/null & read -r line; kill $! 2>/dev/null; wait', "sh"]
    with until_left([*shell, slapd, "-d", "0", "-h", f"{url} {secure_url}", "-f", str(folder / "slapd.conf")]):
        until(lambda: _answers(url))
        directory = Directory(url, secure_url, certificate)
        directory.write("", objectClass=["dcObject", "organization"], dc=["example"], o=["Example"])
        for unit in ("people", "groups"):
            directory.write(f"ou={unit}", objectClass=["organizationalUnit"], ou=[unit])
        yield directory


def _answers(url: str) -> bool:
    import ldap  # noqa: PLC0415

    try:
        ldap.initialize(url).simple_bind_s(ADMIN, PASSWORD)
    except ldap.SERVER_DOWN:
        return False
    return True
