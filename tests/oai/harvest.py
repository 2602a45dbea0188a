"""Harvests the register of namespaces with Sickle, and holds every answer against the structure that OAI-PMH demands.

    harvest.py BASE-URL PROGRAM DATA-FOLDER

The schemas beside this file are written from the protocol's description (OAI-PMH 2.0, 2002-06-14, and its
guidelines for oai_dc), and from the entries of the original registry for `reg`. They are stricter than a server has
to be: what they allow, the published ones do.
"""

import pathlib
import subprocess
import sys
import xml.etree.ElementTree as ElementTree

import requests
import xmlschema
from sickle import Sickle, oaiexceptions
from sickle.iterator import OAIResponseIterator

BASE, PROGRAM, DATA = sys.argv[1:4]
HERE = pathlib.Path(__file__).parent
OAI = "{http://www.openarchives.org/OAI/2.0/}"
REG = "{http://info-uri.info/registry}"
DC = "{http://purl.org/dc/elements/1.1/}"

FRAME = xmlschema.XMLSchema(str(HERE / "oai-pmh.xsd"))
FORMATS = {
    "{http://www.openarchives.org/OAI/2.0/oai_dc/}dc": xmlschema.XMLSchema(str(HERE / "oai-dc.xsd")),
    REG + "info-registry-entry": xmlschema.XMLSchema(str(HERE / "reg.xsd")),
}
checked = 0


def check(text):
    """One answer, as a whole and each piece of metadata in it."""
    global checked
    root = ElementTree.fromstring(text)
    FRAME.validate(root)
    for holder in ("metadata", "setDescription"):
        for element in root.iter(OAI + holder):
            (content,) = list(element)
            FORMATS[content.tag].validate(content)
    checked += 1
    return root


class Careful(Sickle):
    """Sickle, with a look at each answer that it gets."""

    def __init__(self, *arguments, **options):
        super().__init__(*arguments, **options)
        self.pages = []

    def harvest(self, **arguments):
        answer = super().harvest(**arguments)
        root = check(answer.raw.encode("utf-8"))
        self.pages.append(len(list(root.iter(OAI + "header"))))
        return answer


def run(*words):
    subprocess.run([PROGRAM, "--data", DATA, *words], check=True, stdout=subprocess.DEVNULL)


def is_equal(found, expected, what):
    if found != expected:
        sys.exit(f"{what}: {found!r}, not {expected!r}")


def identifiers(records):
    return sorted(record.header.identifier for record in records)


def harvest_all(method):
    """All entries, in both formats, ten at a time."""
    everything = None
    for prefix in ("oai_dc", "reg"):
        client = Careful(BASE, http_method=method)
        records = list(client.ListRecords(metadataPrefix=prefix))
        is_equal(client.pages, [10, 10, 9], f"pages of {prefix}")
        is_equal(len(records), 29, f"records of {prefix}")
        is_equal(any(record.header.deleted for record in records), False, "deleted at first")
        everything = everything or identifiers(records)
        is_equal(identifiers(records), everything, f"identifiers of {prefix}")
        headers = list(client.ListIdentifiers(metadataPrefix=prefix))
        is_equal(sorted(header.identifier for header in headers), everything, f"headers of {prefix}")
    return everything


def look_around(client):
    identity = client.Identify()
    is_equal(identity.baseURL, BASE, "baseURL")
    is_equal(identity.adminEmail, "registry@library.example", "adminEmail")
    is_equal(identity.deletedRecord, "persistent", "deletedRecord")
    is_equal(identity.granularity, "YYYY-MM-DDThh:mm:ssZ", "granularity")
    is_equal([one.metadataPrefix for one in client.ListMetadataFormats()], ["oai_dc", "reg"], "formats")
    is_equal([one.setSpec for one in client.ListSets()], ["historical", "later"], "sets")
    record = client.GetRecord(metadataPrefix="oai_dc", identifier="info:lccn/")
    is_equal(record.metadata["creator"], ["Library of Congress"], "creator")
    full = client.GetRecord(metadataPrefix="reg", identifier="info:lccn/")
    is_equal(full.xml.find(f".//{REG}registration-date").text, "2003-11-10", "registration-date")
    # Links that people have kept.
    old = requests.get(BASE.replace("/oai", "/registry/OAIHandler"), params={
        "verb": "GetRecord", "metadataPrefix": "reg", "identifier": "info:lccn/"}, timeout=10)
    check(old.content)
    packed = requests.get(BASE, params={"verb": "ListRecords", "metadataPrefix": "reg"},
                          headers={"Accept-Encoding": "gzip"}, timeout=10)
    is_equal(packed.headers.get("Content-Encoding"), "gzip", "compression")
    check(packed.content)


def errors(client):
    for arguments, code in [
        ({"verb": "Explain"}, "badVerb"),
        ({"verb": "ListRecords"}, "badArgument"),
        ({"verb": "ListRecords", "metadataPrefix": "reg", "colour": "red"}, "badArgument"),
        ({"verb": "ListRecords", "metadataPrefix": "reg", "from": "2026"}, "badArgument"),
        ({"verb": "ListRecords", "metadataPrefix": "reg", "from": "2026-01-01", "until": "2026-01-01T00:00:00Z"}, "badArgument"),
        ({"verb": "ListRecords", "resumptionToken": "x"}, "badResumptionToken"),
        ({"verb": "ListRecords", "metadataPrefix": "marc21"}, "cannotDisseminateFormat"),
        ({"verb": "GetRecord", "metadataPrefix": "reg", "identifier": "info:nobody/"}, "idDoesNotExist"),
        ({"verb": "GetRecord", "metadataPrefix": "reg", "identifier": "<&\"'>"}, "idDoesNotExist"),
        ({"verb": "ListRecords", "metadataPrefix": "reg", "until": "1999-12-31"}, "noRecordsMatch"),
        ({"verb": "ListIdentifiers", "metadataPrefix": "reg", "set": "later"}, "noRecordsMatch"),
    ]:
        answer = requests.get(BASE, params=arguments, timeout=10)
        (error,) = list(check(answer.content).iter(OAI + "error"))
        is_equal(error.get("code"), code, f"the code for {arguments}")
    try:
        client.ListRecords(metadataPrefix="marc21")
        sys.exit("no exception")
    except oaiexceptions.CannotDisseminateFormat:
        pass


def later(prefix, since):
    """What is new since a time."""
    client = Careful(BASE)
    return list(client.ListRecords(**{"metadataPrefix": prefix, "from": since}))


def live(everything):
    """Changes are told once each, and a tombstone is told for ever."""
    since = next(iter(check(requests.get(BASE, params={"verb": "Identify"}, timeout=10).content).iter(OAI + "responseDate"))).text
    run("namespace", "propose", "shelf", "--as", "ann", "--title", "Shelf <marks> & \"more\"",
        "--organisation", "Example Library", "--contact", "shelf@library.example", "--case", "upper",
        "--syntax", "Two capitals, six digits.", "--pattern", "[A-Z]{2}[0-9]{6}",
        "--mechanism", "https://library.example/shelf/{id}", "--security", "None are known.",
        "--example", "info:shelf/ab000001", "info:shelf/AB000001", "--declare", "in-use")
    try:
        later("reg", since)
        sys.exit("a proposal was harvested")
    except oaiexceptions.NoRecordsMatch:
        pass
    run("namespace", "approve", "shelf", "--why", "letterhead")
    for prefix in ("oai_dc", "reg"):
        is_equal(identifiers(later(prefix, since)), ["info:shelf/"], "after an approval")
    (record,) = Careful(BASE).ListRecords(metadataPrefix="oai_dc", set="later")
    is_equal(record.metadata["title"], ["Shelf <marks> & \"more\""], "title")
    is_equal(record.header.setSpecs, ["later"], "set")

    # While someone harvests, an entry that they have seen changes: they see it again, and miss nothing.
    client = Careful(BASE)
    records = client.ListRecords(metadataPrefix="reg")
    seen = [next(records).header.identifier for _ in range(10)]
    is_equal(seen[0], "info:bibcode/", "the oldest")
    run("namespace", "change", "bibcode", "--contact", "ads@library.example", "--why", "a contact is needed")
    seen += [record.header.identifier for record in records]
    is_equal(sorted(set(seen)), sorted([*everything, "info:shelf/"]), "all, while it changed")
    is_equal("info:bibcode/" in seen[10:], True, "what changed comes again")
    is_equal(identifiers(later("oai_dc", since)), ["info:bibcode/", "info:shelf/"], "after a change")

    run("namespace", "withdraw", "shelf", "--as", "ann", "--why", "nobody uses it")
    gone = [record for record in later("reg", since) if record.header.deleted]
    is_equal(identifiers(gone), ["info:shelf/"], "after a withdrawal")
    is_equal(gone[0].xml.find(f".//{OAI}metadata"), None, "metadata of what is gone")
    headers = [header for header in Careful(BASE).ListIdentifiers(metadataPrefix="oai_dc") if header.deleted]
    is_equal([header.identifier for header in headers], ["info:shelf/"], "headers of what is gone")
    left = list(Careful(BASE).ListRecords(metadataPrefix="oai_dc", ignore_deleted=True))
    is_equal(len(left), 29, "what is left")
    try:
        Careful(BASE).ListMetadataFormats(identifier="info:shelf/")
        sys.exit("what is gone has formats")
    # Sickle looks for an exception of another name.
    except oaiexceptions.OAIError:
        pass


def main():
    everything = harvest_all("GET")
    is_equal(harvest_all("POST"), everything, "by POST")
    client = Careful(BASE)
    look_around(client)
    errors(client)
    answers = Careful(BASE, iterator=OAIResponseIterator).ListRecords(metadataPrefix="reg")
    is_equal(len(list(answers)), 3, "answers for 29 records")
    live(everything)
    print(f"{checked} answers are as OAI-PMH demands")


main()
