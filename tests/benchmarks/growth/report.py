"""``make bench ONLY=growth``; with ``ONLY="growth FOLDER"`` its pictures are written there."""

import sys
from collections.abc import Mapping
from datetime import UTC, datetime
from pathlib import Path

from conversations.models import ModelPrice
from conversations.providers import model_catalog
from conversations.providers.prices import price_of
from tests.benchmarks.growth import estimates, picture
from tests.benchmarks.growth.measured import Measured, measure
from tests.benchmarks.growth.people import Year, year
from tests.benchmarks.measuring import doing

SIZES = (10, 100, 1_000, 10_000)
RATES = (1, 10, 100, 1_000)
MODELS = ("claude-sonnet-5-5", "claude-haiku-5-5")
SNAPSHOT_DAYS = 90


def main(url: str) -> None:
    measured = measure(url)
    with doing("a year of people"):
        years = {people: year(people) for people in SIZES}
    tell_measured(measured)
    tell_sizes(measured, years, {model: price(model, measured) for model in MODELS})
    tell_rates(measured)
    if sys.argv[2:]:
        draw(Path(sys.argv[2]), measured, years[SIZES[-1]])


def price(model: str, measured: Measured) -> ModelPrice:
    found = price_of(
        model_catalog.prices(), provider="anthropic", model=model, at=datetime.now(UTC), prompt=measured.tokens.prompt
    )
    assert found is not None, model
    return found


def tell_measured(measured: Measured) -> None:
    print(f"\n== measured: {measured.messages} streamed messages by 24 at once, load {measured.load}; of one message")
    print(f"  {'':<36}{'rows':>8}{'table':>9}{'index':>9} bytes")
    for name, table in sorted(measured.tables.items(), key=lambda one: -one[1].bytes):
        if table.bytes >= 1 or table.rows >= 0.01:
            print(f"  {name:<36}{table.rows:8.2f}{table.heap:9.0f}{table.index:9.0f}")
    kept = sum(estimates.by_kind(measured.tables).values())
    print(f"  kept for good {kept:,.0f} bytes")
    print(f"  WAL {measured.wal:,.0f} bytes, with whole pages after a checkpoint {measured.wal_after_checkpoint:,.0f}")
    print(
        f"  transactions {measured.transactions:.1f}, connections of the server and its workers {measured.connections}"
    )
    print(f"  CPU: server {measured.server_ms:.1f} ms, PostgreSQL {measured.postgres_ms:.1f} ms")
    print(f"  a reply takes {measured.reply_seconds:.1f} s; {measured.tokens}")
    print(f"  server {measured.server_mb:.0f} MB; an open socket {measured.socket_kb:.0f} kB")
    print(
        f"  a page of a PDF: {measured.page_table:,.0f} bytes of tables, {measured.page_storage:,.0f} of storage,"
        f" {measured.page_ms:.0f} ms of CPU"
    )


def tell_sizes(measured: Measured, years: Mapping[int, Year], prices: Mapping[str, ModelPrice]) -> None:
    print("\n== a year of people")
    for people, made in years.items():
        total, kept = (estimates.growth(measured, made, days).total[-1] for days in (0, SNAPSHOT_DAYS))
        rows = sum(made.messages) * sum(table.rows for n, table in measured.tables.items() if n != estimates.EVENTS)
        print(
            f"  {people:>6,} people: {sum(made.messages):>10,} messages, peak {made.peak:7.3f} a second,"
            f" {rows / 1e6:8.2f} million rows, {total / 1e9:8.2f} GB ({kept / 1e9:.2f} GB with {SNAPSHOT_DAYS} days),"
            f" WAL {sum(made.messages) * measured.wal_after_checkpoint / 1e9:8.2f} GB,"
            f" {sum(made.pages):,} pages, {sum(made.pages) * measured.page_storage / 1e9:.2f} GB of files"
        )
        for model, of in prices.items():
            bill = estimates.bill(measured, made, of)
            print(
                f"         USD a month: cores {bill.cores:,.0f}, disk {bill.disk:,.2f}, files {bill.files:,.2f},"
                f" {model} {bill.model:,.0f}: {100 * bill.machines / (bill.machines + bill.model):.0f} % machines"
            )


def tell_rates(measured: Measured) -> None:
    print("\n== messages a second")
    for rate in RATES:
        need = estimates.need(measured, rate)
        print(
            f"  {rate:>5}: servers {need.servers}, cores {need.server_cores:.1f} + PostgreSQL {need.postgres_cores:.1f}"
            f" + workers {need.worker_cores:.1f}, connections {need.connections}, replies at once {need.running:,.0f},"
            f" WAL {need.wal / 1e6:.2f} MB/s, events {need.events / 1e9:.2f} GB, memory {need.memory_mb / 1000:.1f} GB,"
            f" tokens a minute {need.input_minute / 1e6:.2f} million in, {need.output_minute / 1e6:.2f} million out"
        )
    print("  what is used up at which rate:")
    for name, limit in estimates.limits(measured).items():
        print(f"    {limit:8.1f} {name}")


def draw(folder: Path, measured: Measured, made: Year) -> None:
    grown = estimates.growth(measured, made)
    other = estimates.growth(measured, made, SNAPSHOT_DAYS).total
    title = f"The database in a year of {made.people:,} people"
    named = f"requests kept {SNAPSHOT_DAYS} days"
    (folder / "growth-year.svg").write_text(picture.year_of_bytes(title, grown.kinds, (named, other)))
    needs = [estimates.need(measured, rate) for rate in estimates.rates()]
    lines = {
        "servers": [(each.rate, each.server_cores) for each in needs],
        "PostgreSQL": [(each.rate, each.postgres_cores) for each in needs],
        "workers": [(each.rate, each.worker_cores) for each in needs],
    }
    (folder / "growth-cores.svg").write_text(
        picture.cores_by_rate("Cores, and what is used up first", lines, estimates.limits(measured))
    )
