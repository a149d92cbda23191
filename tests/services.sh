#!/bin/sh
# What the tests need beside Python: Redis, Chromium, libfaketime, PgBouncer, HAProxy, nginx, systemd-analyze,
# Tesseract with German, slapd with OpenLDAP's headers, rsyslogd with OpenSSL, and the server programs of PostgreSQL 15;
# and programs named as arguments, with their packages where these are called otherwise: `pgbackrest
# pdftotext=poppler-utils`. As root on Debian they are installed; elsewhere the lines at the end say what is missing.
set -eu

PATH="$PATH:/usr/sbin"

has() { command -v "$1" >/dev/null 2>&1; }

# Debian's shell without windows takes half the processor time.
browser_package() {
	if apt-cache show chromium-headless-shell >/dev/null 2>&1; then echo chromium-headless-shell; else echo chromium; fi
}

missing() {
	for name in "$@"; do has "${name%%=*}" || echo "${name#*=}"; done
	[ -n "${OPENBOOK_TEST_REDIS:-}" ] || has redis-server || echo redis-server
	[ -n "${OPENBOOK_TEST_CHROMIUM:-}" ] || has chromium-headless-shell || has chromium || has chromium-browser ||
		has google-chrome || browser_package
	[ -n "${OPENBOOK_TEST_PGBOUNCER:-}" ] || has pgbouncer || echo pgbouncer
	[ -n "${OPENBOOK_TEST_HAPROXY:-}" ] || has haproxy || echo haproxy
	[ -n "${OPENBOOK_TEST_NGINX:-}" ] || has nginx || echo nginx-light
	[ -n "${OPENBOOK_TEST_PROMETHEUS:-}" ] || has prometheus || echo prometheus
	[ -n "${OPENBOOK_TEST_SYSTEMD_ANALYZE:-}" ] || has systemd-analyze || echo systemd
	[ -n "${OPENBOOK_TEST_FAKETIME:-}" ] || ls /usr/lib/*/faketime/libfaketimeMT.so.1 >/dev/null 2>&1 || echo libfaketime
	ls /usr/share/tesseract-ocr/*/tessdata/deu.traineddata >/dev/null 2>&1 || {
		has tesseract || echo tesseract-ocr
		has tesseract && tesseract --list-langs 2>&1 | grep -qx deu || echo tesseract-ocr-deu
	}
	[ -n "${OPENBOOK_TEST_SLAPD:-}" ] || has slapd || echo slapd
	[ -n "${OPENBOOK_TEST_RSYSLOGD:-}" ] || has rsyslogd || echo rsyslog
	[ -n "${OPENBOOK_TEST_RSYSLOGD:-}" ] || ls /usr/lib/*/rsyslog/lmnsd_ossl.so >/dev/null 2>&1 || echo rsyslog-openssl
	! has apt-get || { # what python-ldap is compiled with
		has gcc || echo gcc
		[ -e /usr/include/ldap.h ] || echo libldap2-dev
		[ -e /usr/include/sasl/sasl.h ] || echo libsasl2-dev
	}
	[ -x "${OPENBOOK_TEST_POSTGRES15_BIN:-/usr/lib/postgresql/15/bin}/initdb" ] || echo postgresql-15
}

packages=$(missing "$@")
[ -n "$packages" ] || exit 0

if [ "$(id -u)" = 0 ] && has apt-get; then
	echo "Installing for the tests:" $packages
	export DEBIAN_FRONTEND=noninteractive
	apt-get update -qq
	packages=$(missing "$@")
	# shellcheck disable=SC2086
	apt-get install -qq -y --no-install-recommends $packages >/dev/null
	packages=$(missing "$@")
	[ -n "$packages" ] || exit 0
fi

cat >&2 <<END
The tests need what is not here:
$packages

Debian, Ubuntu: apt-get install redis-server chromium pgbouncer haproxy nginx-light systemd postgresql-15 \\
                    prometheus libfaketime tesseract-ocr tesseract-ocr-deu slapd gcc libldap2-dev libsasl2-dev \\
                    rsyslog rsyslog-openssl
macOS:          brew install redis pgbouncer haproxy nginx postgresql@15 prometheus libfaketime \\
                    tesseract tesseract-lang openldap rsyslog
                brew install --cask chromium
Programs in other places are named by OPENBOOK_TEST_REDIS, OPENBOOK_TEST_CHROMIUM, OPENBOOK_TEST_PGBOUNCER,
OPENBOOK_TEST_HAPROXY, OPENBOOK_TEST_NGINX, OPENBOOK_TEST_PROMETHEUS, OPENBOOK_TEST_SLAPD, OPENBOOK_TEST_RSYSLOGD,
OPENBOOK_TEST_SYSTEMD_ANALYZE (the programs), OPENBOOK_TEST_FAKETIME (the library) and
OPENBOOK_TEST_POSTGRES15_BIN (the folder that holds initdb).
END
exit 1
