"""Obeys the lines of scripts/foreign/stack.mjs with the client of asyncua. Its argument is a checkout of it."""

import asyncio
import base64
import importlib.metadata
import json
import re
import sys
import types
from datetime import datetime, timedelta, timezone
from pathlib import Path

checkout = Path(sys.argv[1])
project = (checkout / "pyproject.toml").read_text()
# The checkout is not installed, so no package metadata names its version.
version = re.search(r'^version = "(.+)"', project, re.M).group(1)
importlib.metadata.version = lambda _name: version
# A backport that asyncua imports on Python 3.11, and that Debian does not have.
sys.modules.setdefault("wait_for2", types.SimpleNamespace(wait_for=asyncio.wait_for))
sys.path.insert(0, str(checkout))
import cryptography  # noqa: E402


def too_old():
    """Says so if the cryptography of this machine is older than asyncua wants: it encrypts nothing then."""
    wanted = re.search(r'"cryptography>([\d.]+)"', project).group(1)
    texts = (wanted, cryptography.__version__)
    least, ours = ([int(part) for part in re.findall(r"\d+", text)] for text in texts)
    return "" if ours > least else f"needs a cryptography newer than {wanted}, not {cryptography.__version__}"


try:
    from asyncua import Client, ua
    from asyncua.crypto import security_policies
except ImportError as error:
    sys.exit(f"asyncua cannot be imported: {error}. {too_old()}")

ALARM_CONDITION_TYPE = ua.ObjectIds.AlarmConditionType
READERS = {
    "Boolean": lambda text: text == "true",
    "ByteString": base64.b64decode,
    "Int32": int,
    "Int32[]": lambda text: [int(part) for part in text.split(",")],
    "LocalizedText": ua.LocalizedText,
    "String": str,
    "UInt32": int,
    "DateTime": lambda text: datetime.fromisoformat(text.replace("Z", "+00:00")).replace(tzinfo=None),
}


def variant(kind, text):
    return ua.Variant(READERS[kind](text), ua.VariantType[kind.removesuffix("[]")])


def say(*parts):
    print(*parts, sep="\t", flush=True)


def as_json(value):
    return json.dumps(value, default=str)


class Follower:
    def datachange_notification(self, node, value, _data):
        say("*", node.nodeid.to_string(), as_json(value))

    def event_notification(self, event):
        known = vars(event)
        condition, event_id = known.get("NodeId"), base64.b64encode(event.EventId or b"").decode()
        ids = [event.EventType.to_string(), condition and condition.to_string(), event_id]
        states = [known.get("AckedState/Id"), known.get("Retain")]
        say("*", "event", as_json([event.SourceName, event.Severity, *ids, *states]))


class NotRun(Exception):
    """Why something cannot be tried on this machine."""


class Commands:
    client = None
    subscription = None

    async def version(self):
        return version

    async def endpoints(self, url):
        found = await Client(url).connect_and_get_server_endpoints()
        return [endpoint.SecurityPolicyUri.split("#")[-1] for endpoint in found]

    async def connect(self, url, policy="None", certificate="", key="", user="", password=""):
        if policy != "None" and too_old():
            raise NotRun(too_old())
        self.client = Client(url)
        if policy != "None":
            self.client.application_uri = "urn:fleetgate:try"
            kind = getattr(security_policies, f"SecurityPolicy{policy.replace('_', '')}")
            await self.client.set_security(kind, certificate, key, mode=ua.MessageSecurityMode.SignAndEncrypt)
        if user != "":
            self.client.set_user(user)
            self.client.set_password(password)
        await self.client.connect()

    async def disconnect(self):
        await self.client.disconnect()
        self.subscription = None

    async def read(self, node):
        return await self.client.get_node(node).read_value()

    async def write(self, node, kind, text):
        # Without a source timestamp, which asyncua would add.
        await self.client.get_node(node).write_value(ua.DataValue(variant(kind, text)))

    async def call(self, owner, method, *arguments):
        pairs = zip(arguments[::2], arguments[1::2])
        node = self.client.get_node(owner)
        return await node.call_method(ua.NodeId.from_string(method), *(variant(*pair) for pair in pairs))

    async def browse(self, node):
        children = await self.client.get_node(node).get_children()
        return [child.nodeid.to_string() for child in children]

    async def subscribed(self):
        if self.subscription is None:
            self.subscription = await self.client.create_subscription(200, Follower())
        return self.subscription

    async def subscribe(self, node):
        await (await self.subscribed()).subscribe_data_change(self.client.get_node(node))

    async def events(self, node):
        await (await self.subscribed()).subscribe_events(self.client.get_node(node))

    async def conditions(self, node):
        subscription = await self.subscribed()
        await subscription.subscribe_alarms_and_conditions(self.client.get_node(node), ALARM_CONDITION_TYPE)
        return subscription.subscription_id

    async def history(self, node):
        now = datetime.now(timezone.utc).replace(tzinfo=None)
        past = await self.client.get_node(node).read_raw_history(now - timedelta(hours=1), now)
        return [each.Value and each.Value.Value for each in past]


async def main():
    commands = Commands()
    loop = asyncio.get_running_loop()
    while line := await loop.run_in_executor(None, sys.stdin.readline):
        name, *arguments = line.rstrip("\n").split("\t")
        try:
            say("Good", as_json(await getattr(commands, name)(*arguments)))
        except NotRun as why:
            say("NotRun", as_json(str(why)))
        except ua.UaStatusCodeError as error:
            say(ua.status_codes.get_name_and_doc(error.code)[0], "null")
        except Exception as error:  # noqa: BLE001 - the case that asked reports it
            say("Failed", as_json(repr(error)))


asyncio.run(main())
