"""Sign-in by a company's account, as the file says that OPENBOOK_SIGN_IN_PROVIDERS names: TOML with tables ``[[openid]]``,
``[[saml]]`` and ``[ldap]``. It becomes the settings of django-allauth and of ``conversations.accounts.ldap_sign_in``.

Pure, but for the files: the settings call it before Django is there.
"""

import re
import tomllib
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

from cryptography.x509 import load_pem_x509_certificate
from django.core.exceptions import ImproperlyConfigured

type Values = dict[str, Any]
type SecretReader = Callable[[Mapping[str, str], str], str]

ID = re.compile(r"[a-z0-9][a-z0-9-]{0,39}")
SIGN_UP = ("as_others", "anybody", "closed")
GROUP_TYPES = ("names", "unique_names", "posix", "active_directory", "nested_active_directory")


def _text(value: Any) -> bool:
    return isinstance(value, str) and bool(value.strip())


def _texts(value: Any) -> bool:
    return isinstance(value, list) and all(map(_text, value))


def _groups(value: Any) -> bool:
    return isinstance(value, dict) and all(_texts(names) for names in value.values())


def _address(value: Any) -> bool:
    return isinstance(value, str) and re.fullmatch(r"https?://[^\s?#]+", value) is not None


def _directory_address(value: Any) -> bool:
    return isinstance(value, str) and re.fullmatch(r"(ldaps?|ldapi)://\S+", value) is not None


def _switch(value: Any) -> bool:
    return isinstance(value, bool)


def _domains(value: Any) -> bool:
    return isinstance(value, bool) or _texts(value)


def _names(value: Any) -> bool:
    return isinstance(value, dict) and all(map(_text, value.values()))


type Kind = tuple[Callable[[Any], bool], str]
TEXT: Kind = (_text, "a text")
TEXTS: Kind = (_texts, "a list of texts")
ADDRESS: Kind = (_address, "an address such as https://login.example/realms/staff")
SWITCH: Kind = (_switch, "true or false")
CLAIMS: dict[str, Kind] = {
    "groups_claim": TEXT,
    "groups": (_groups, 'a table such as { "it-support" = ["Support"] }'),
    "staff": TEXTS,
    "superusers": TEXTS,
    "sign_up": (lambda value: value in SIGN_UP, f"one of {', '.join(SIGN_UP)}"),
}
"""What people of a provider may: the same for all kinds, and in rows of the admin."""
MAIL: dict[str, Kind] = {
    "trusts_mail": SWITCH,
    "verified_mail": (_domains, "true, false or a list of domains"),
}
COMMON: dict[str, Kind] = {
    "id": (lambda value: _text(value) and ID.fullmatch(value) is not None, "a short name of a-z, 0-9 and -"),
    "name": TEXT,
}
KEYS: dict[str, dict[str, Kind]] = {
    "openid": {
        **COMMON,
        "server": ADDRESS,
        "client_id": TEXT,
        "client_secret": TEXT,
        "client_secret_file": TEXT,
        "client_secret_env": TEXT,
        "token_auth_method": TEXT,
        "scopes": TEXTS,
        "uid_claim": TEXT,
        **MAIL,
        **CLAIMS,
    },
    "saml": {
        **COMMON,
        "entity_id": TEXT,
        "sso_url": ADDRESS,
        "slo_url": ADDRESS,
        "certificate": TEXT,
        "certificate_file": TEXT,
        "own_entity_id": TEXT,
        "own_certificate_file": TEXT,
        "own_key_file": TEXT,
        "encrypted": SWITCH,
        "idp_initiated": SWITCH,
        "attributes": (_names, 'a table such as { email = "mail" }'),
        **MAIL,
        **CLAIMS,
    },
    "ldap": {
        "name": TEXT,
        "server": (_directory_address, "an address such as ldaps://directory.example"),
        "start_tls": SWITCH,
        "certificate_authority_file": TEXT,
        "bind_dn": TEXT,
        "bind_password": TEXT,
        "bind_password_file": TEXT,
        "bind_password_env": TEXT,
        "users": TEXT,
        "user_filter": (lambda value: _text(value) and "%(user)s" in value, "a filter with %(user)s in it"),
        "uid_attribute": TEXT,
        "group_base": TEXT,
        "group_type": (lambda value: value in GROUP_TYPES, f"one of {', '.join(GROUP_TYPES)}"),
        "trusts_names": SWITCH,
        **{name: kind for name, kind in CLAIMS.items() if name != "groups_claim"},
    },
}
NEEDED = {
    "openid": ("id", "name", "server", "client_id"),
    "saml": ("id", "name", "entity_id", "sso_url"),
    "ldap": ("server", "users"),
}


def read(path: str, environment: Mapping[str, str], secret: SecretReader) -> tuple[Values, Values]:
    """Settings for allauth (``SOCIALACCOUNT_PROVIDERS``), and those of the directory, which are empty without one. ``secret``
    is ``config.secret_files.secret``. Raises ``ImproperlyConfigured``."""
    tables = _tables(path) if path else {}
    openid, saml = _list(tables, "openid", path), _list(tables, "saml", path)
    ids = [table["id"] for table in (*openid, *saml)]
    for id in ids:
        if ids.count(id) > 1:
            raise ImproperlyConfigured(f"{path}: two providers have the id {id!r}; an id is part of addresses.")
    providers: Values = {
        "openid_connect": {
            "provider_class": "conversations.web.openid.OpenIdProvider",
            "OAUTH_PKCE_ENABLED": True,
            "APPS": [
                openid_app(table, client_secret=_secret("client_secret", table, path, environment, secret))
                for table in openid
            ],
        },
        "saml": {
            "provider_class": "conversations.web.saml.SamlProvider",
            "APPS": [_saml_app(table, path) for table in saml],
        },
    }
    directory = tables.get("ldap") or {}
    if "ldap" in tables:
        _check("ldap", directory, path)
        directory = {**directory, "bind_password": _secret("bind_password", directory, path, environment, secret)}
    return providers, directory


def _tables(path: str) -> Values:
    try:
        tables = tomllib.loads(Path(path).read_text(encoding="utf-8"))
    except OSError as error:
        raise ImproperlyConfigured(f"OPENBOOK_SIGN_IN_PROVIDERS can't be read: {path}: {error.strerror}.") from error
    except (tomllib.TOMLDecodeError, UnicodeDecodeError) as error:
        raise ImproperlyConfigured(f"OPENBOOK_SIGN_IN_PROVIDERS: {path} is no TOML: {error}.") from error
    for name in tables.keys() - KEYS.keys():
        raise ImproperlyConfigured(f"{path}: {name!r} is not known; write tables [[openid]], [[saml]] or [ldap].")
    return tables


def _list(tables: Values, kind: str, path: str) -> list[Values]:
    found = tables.get(kind, [])
    if not isinstance(found, list) or not all(isinstance(table, dict) for table in found):
        raise ImproperlyConfigured(f"{path}: write [[{kind}]] in two brackets, as there may be several.")
    for table in found:
        _check(kind, table, path)
    return found


def _check(kind: str, table: Any, path: str) -> None:
    if not isinstance(table, dict):
        raise ImproperlyConfigured(f"{path}: write [{kind}] in one bracket, as there is one.")
    if problem := problem_of(kind, table):
        raise ImproperlyConfigured(f"{path}: {f'{kind} {table.get("id", "")}'.rstrip()}: {problem}")


def problem_of(kind: str, table: Mapping[str, Any]) -> str:
    """What is wrong with a table; empty: nothing."""
    for name in NEEDED[kind]:
        if name not in table:
            return f"{name} is missing."
    for name, value in table.items():
        if name not in KEYS[kind]:
            return f"{name!r} is not known; it takes {', '.join(KEYS[kind])}."
        is_right, words = KEYS[kind][name]
        if not is_right(value):
            return f"{name} has to be {words}."
    if ("own_key_file" in table) != ("own_certificate_file" in table):
        return "own_key_file and own_certificate_file belong together."
    if table.get("encrypted") and "own_key_file" not in table:
        return "own_key_file is missing: what is encrypted for this server is read with it."
    governs = any(table.get(name) for name in ("groups", "staff", "superusers"))
    if governs and kind != "ldap" and not table.get("groups_claim"):
        return "groups_claim is missing: the name of the claim that lists groups."
    if governs and kind == "ldap" and not table.get("group_base"):
        return "group_base is missing: the entry below which groups stand, such as ou=groups,dc=example,dc=org."
    return ""


def openid_app(table: Values, *, client_secret: str) -> Values:
    """The fields of allauth's ``SocialApp``."""
    settings = {"server_url": table["server"].rstrip("/"), **_shared(table)}
    for ours, theirs in (("scopes", "scope"), ("uid_claim", "uid_field"), ("token_auth_method", "token_auth_method")):
        if ours in table:
            settings[theirs] = table[ours]
    return {
        "provider_id": table["id"],
        "name": table["name"],
        "client_id": table["client_id"],
        "secret": client_secret,
        "settings": settings,
    }


def _saml_app(table: Values, path: str) -> Values:
    certificate = str(table.get("certificate") or _text_of("certificate_file", table, path))
    if not holds_certificate(certificate):
        raise ImproperlyConfigured(f"{path}: saml {table['id']}: certificate_file holds no certificate, as PEM has it.")
    own = {
        name: _text_of(f"own_{name}_file", table, path) for name in ("key", "certificate") if "own_key_file" in table
    }
    return saml_app(
        table, certificate=certificate, own_key=own.get("key", ""), own_certificate=own.get("certificate", "")
    )


def holds_certificate(text: str) -> bool:
    try:
        load_pem_x509_certificate(text.encode())
    except ValueError:
        return False
    return True


def _text_of(name: str, table: Values, path: str) -> str:
    """Of the file that a key names. Raises ``ImproperlyConfigured``."""
    problem = f"{path}: saml {table['id']}: {name}"
    if name not in table:
        raise ImproperlyConfigured(f"{problem} is missing.")
    try:
        return Path(table[name]).read_text(encoding="ascii")
    except (OSError, UnicodeDecodeError) as error:
        raise ImproperlyConfigured(f"{problem} can't be read: {error}.") from error


def saml_app(table: Values, *, certificate: str, own_key: str = "", own_certificate: str = "") -> Values:
    """The fields of allauth's ``SocialApp``. With a key of its own this server signs what it sends, and reads what was
    encrypted for it."""
    identity = {"entity_id": table["entity_id"], "sso_url": table["sso_url"], "x509cert": certificate}
    if "slo_url" in table:
        identity["slo_url"] = table["slo_url"]
    advanced: Values = {
        "allow_single_label_domains": True,  # as in a company's own network
        "want_attribute_statement": False,  # where a NameID is all that is wanted, nothing else is sent
        "metadata_valid_until": "",  # or else it is good for two days, and providers take it in once
    }
    if own_key:
        signs = ("authn_request_signed", "logout_request_signed", "logout_response_signed")
        advanced |= {"private_key": own_key, "x509cert": own_certificate, **dict.fromkeys(signs, True)}
    if table.get("encrypted"):
        advanced["want_assertion_encrypted"] = True
    settings: Values = {"idp": identity, "advanced": advanced, **_shared(table)}
    if "own_entity_id" in table:
        settings["sp"] = {"entity_id": table["own_entity_id"]}
    if "attributes" in table:
        settings["attribute_mapping"] = table["attributes"]
    if "idp_initiated" in table:
        settings["idp_initiated"] = table["idp_initiated"]
    return {"provider_id": table["id"], "client_id": table["id"], "name": table["name"], "settings": settings}


def _shared(table: Values) -> Values:
    shared = {name: table[name] for name in CLAIMS if name in table}
    if table.get("trusts_mail"):
        shared["email_authentication"] = True
    if "verified_mail" in table:
        shared["verified_email"] = table["verified_mail"]
    return shared


def _secret(name: str, table: Values, path: str, environment: Mapping[str, str], secret: SecretReader) -> str:
    """Written in the file itself, in another file, or in a variable of the environment."""
    ways = [each for each in (name, f"{name}_file", f"{name}_env") if each in table]
    if len(ways) > 1:
        raise ImproperlyConfigured(f"{path}: both {ways[0]} and {ways[1]} are set; take one of them away.")
    if f"{name}_env" in table:
        variable = table[f"{name}_env"]
        value = secret(environment, variable)
        if not value:
            raise ImproperlyConfigured(f"{path}: {name}_env names {variable}, which is not set.")
        return value
    if f"{name}_file" in table:
        return secret({f"{name}_FILE": table[f"{name}_file"]}, name)
    return str(table.get(name, ""))
