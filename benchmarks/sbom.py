"""List what the app runs with as an SBOM (CycloneDX, JSON): `python -m benchmarks.sbom`.

Versions and who needs what are those of requirements.txt, the lock file, so the list is the same on
every machine; licences are what the installed packages declare. Hashes stay in the lock file, where
each belongs to a file for one platform.
"""

from __future__ import annotations

import json
import re
import sys
from dataclasses import dataclass, field
from importlib.metadata import PackageNotFoundError, metadata
from pathlib import Path

from cyclonedx.contrib.license.factories import LicenseFactory
from cyclonedx.model.bom import Bom
from cyclonedx.model.component import Component, ComponentType
from cyclonedx.output.json import JsonV1Dot6
from packageurl import PackageURL

import hipad

ROOT = Path(__file__).resolve().parents[1]
PIN = re.compile(r"^([A-Za-z0-9._-]+)==([^\s;]+)(?:\s*;\s*(.*?))?\s*\\?$")
LICENCES = LicenseFactory()
VIA = re.compile(r"^    #(?: via)?\s*(\S.*)?$")


@dataclass
class Pin:
    """A package of the lock file."""

    name: str
    version: str
    needed_by: list[str] = field(default_factory=list)
    hashes: int = 0


def read_lock(text: str) -> list[Pin]:
    """Return the packages of a lock file as `make lock` writes it."""
    pins: list[Pin] = []
    for line in text.splitlines():
        if found := PIN.match(line):
            pins.append(Pin(found[1], found[2]))
        elif pins and line.strip().startswith("--hash="):
            pins[-1].hashes += 1
        elif pins and (found := VIA.match(line)) and found[1]:
            pins[-1].needed_by.append(found[1].partition(" ")[0])
    return pins


def licence_of(name: str) -> str:
    """Return the licence that an installed package declares; empty where that is not one name."""
    try:
        found = metadata(name)
    except PackageNotFoundError:  # of another platform
        return ""
    stated = found.get("License-Expression") or found.get("License") or ""
    kinds = [c.split(" :: ")[-1] for c in found.get_all("Classifier") or [] if "License ::" in c]
    return stated if stated and len(stated) < 60 and "\n" not in stated else ", ".join(kinds)


def bill(pins: list[Pin]) -> Bom:
    """Return the bill of materials."""
    own = Component(
        name="hipad",
        version=hipad.__version__,
        type=ComponentType.APPLICATION,
        bom_ref="hipad",
        licenses=[LICENCES.make_from_string("MIT")],
    )
    known = {pin.name: component_of(pin) for pin in pins}
    bom = Bom(components=known.values())
    bom.metadata.component = own
    for pin in pins:
        for name in pin.needed_by:
            bom.register_dependency(known.get(name, own), [known[pin.name]])
    return bom


def component_of(pin: Pin) -> Component:
    """Return one package."""
    url = PackageURL("pypi", name=pin.name, version=pin.version)
    licence = licence_of(pin.name)
    return Component(
        name=pin.name,
        version=pin.version,
        purl=url,
        bom_ref=str(url),
        licenses=[LICENCES.make_from_string(licence)] if licence else [],
    )


def text_of(bom: Bom) -> str:
    """Return the bill as JSON, without what differs from one making to the next."""
    content = json.loads(JsonV1Dot6(bom).output_as_string())
    content.pop("serialNumber", None)
    content["metadata"].pop("timestamp", None)
    return json.dumps(content, indent=1, sort_keys=True) + "\n"


if __name__ == "__main__":
    sys.stdout.write(text_of(bill(read_lock((ROOT / "requirements.txt").read_text("utf-8")))))
