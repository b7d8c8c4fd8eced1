/**
 * What a reload does with each key that it changes. `scripts/configuration-doc.mjs` holds it against the
 * schema.
 */
export const effects = [
  {
    keys: ["log.level", "rights", "web.commands", "web.floor", "opcua.destinations", "alarms.battery"],
    does: "counts at once",
  },
  {
    keys: ["opcua.users.*", "mqtt.users.*", "web.users.*", "web.tokens.*"],
    does: "one that is gone, or has another password (of `web` also another role or robots), loses its sessions and connections. Another role of an OPC UA user counts with the next write or call",
  },
  {
    keys: ["opcua.certificate", "opcua.key", "mqtt.certificate", "mqtt.key", "web.tls"],
    does: "new connections get the new certificate. To add or remove one, or for another application URI, restart",
  },
  {
    keys: ["opcua.authorities", "opcua.issuers", "opcua.revocationLists"],
    does: "clients without trust lose their sessions and connections",
  },
  {
    keys: ["opcua.reverseConnect"],
    does: "the gateway connects to new addresses, and closes the connections to others",
  },
  {
    keys: ["mqtt.ca", "mqtt.clientCertificate", "mqtt.clientKey"],
    does: "the next connection to the broker uses other file names. New content [needs no reload](security-and-certificates.md#certificates-for-the-plants-broker)",
  },
  {
    keys: ["mqtt.placement", "stations.*.place"],
    does: "the gateway publishes all state on the new topics, and then clears the old ones",
  },
  {
    keys: ["opcua.robots.*"],
    does: "a robot without nodes gets them under its alias, and `Gateway.ModelHash` changes. Any other change is refused",
  },
  {
    keys: ["stations.*"],
    does: "slot, tags and topics come or go. Refused while the station leases a robot, or a command of its slot has no outcome",
  },
  {
    keys: ["stations.*.destinations"],
    does: "leases, permit and tags follow. Refused while the station leases a robot that would be elsewhere",
  },
  {
    keys: ["stations.*.users", "stations.*.clients"],
    does: "as [when a right is taken](#when-a-right-is-taken)",
  },
  {
    keys: ["stations.*.heartbeatMs", "stations.*.maxRunMs", "stations.*.conveyors", "stations.*.load"],
    does: "counts from the last heartbeat, or for conveyors that start from then on",
  },
];

export const head = (
  rows,
) => `<!-- Made by scripts/configuration-doc.mjs from src/config and scripts/configuration-texts.mjs. -->
# Configuration

Set a key of \`/etc/fleetgate/fleetgate.yaml\`, check it, and let the gateway read it again:

    sudo fleetgate check
    sudo systemctl reload fleetgate

\`fleetgate init\` writes the first file. \`config/fleetgate.example.yaml\` has every key with its default, and
\`config/fleetgate.schema.json\` is for your editor. The examples of \`config/examples\` (in the package
\`/usr/share/doc/fleetgate/examples\`) say at their top what to change:

- \`one-line.yaml\`: one line and its PLC, by OPC UA
- \`mosquitto.yaml\`, \`mosquitto.conf\`, \`mosquitto.acl\`: a plant with its own mosquitto
- \`opcua-authority.yaml\`: a plant whose CA signs OPC UA certificates
- \`webhooks-proxy.yaml\`, \`nginx.conf\`: [webhooks](webhooks.md), behind proxies
- \`500-robots.yaml\`: several locations, many robots and clients
- \`two-networks.yaml\`: a machine in plant and office network

## Rules of the file

| topic | rule |
|---|---|
| unknown keys | are mistakes. \`check\` prints all, with line and nearest known key; \`run\` ends with 78 |
| secrets | are in files: an absolute path, one relative to the configuration, or \`credential:NAME\` of systemd. A password is the first line of its file, in UTF-8, as it is or [as a hash](security-and-certificates.md#passwords-of-users), without a space at either end |
| listeners | are on loopback until \`listen.host\` says otherwise. Beyond it, MQTT and the web need TLS and users |
| \`gateway.dataDir\` | is for [one gateway](backup-and-recovery.md#the-data-directory) |

## Try it before the start

    sudo fleetgate check --online

It tries each part for 5 s, and says what is wrong and what to do. Parts are the data folder, 100 MB of room
and each port, and names, clock, TCP and TLS of each host. At the plant's broker it tries user, subscriptions
and rights; with \`cluster\`, etcd and both boxes. It takes one token, waits for one message of missions, and publishes
one message. It sends no command, and writes no file.

The exit code is 0, 69 if a part is wrong, or 78 for mistakes of the file. As root it takes credentials and data
folder from the unit, and names files that the unit's user may not read. With \`--json\`, \`state\` of each part is
\`ok\`, \`wrong\` or \`skipped\`.

## Change it while the gateway runs

The gateway reads the file, and every file that it names. It takes all that is new, or nothing: after a mistake,
or if one change needs a restart, it goes on with what it had.

| a way in | result |
|---|---|
| \`sudo systemctl reload fleetgate\` | fails when the gateway refuses the file; \`journalctl -u fleetgate -p warning\` names each key with its reason |
| \`sudo fleetgate reload --config FILE\`, with \`--json\` too | what is in use now, or each refused key. Exit code 0, 78 (refused), 1 (no gateway answers), 6 (it went away: ask again) |
| \`POST /api/v1/reload\` on the control socket | \`{"applied":[…],"refused":[{"path","reason"}],"warnings":[…],"hash"}\`; 200, or 409 (refused) |

What a reload does at once:

| key | what follows |
|---|---|
${rows}

A new password or certificate in the same file is a change of its key. For files of \`credential:NAME\` and of
\`fleet\` restart. [The audit log](security-and-certificates.md#the-audit-log) has each reload.

### When a right is taken

| of a user without the right | what happens |
|---|---|
| a new command | the gateway refuses it (\`NOT_ALLOWED\`) |
| an accepted command | it leaves, unless you cancel it or hold the robot |
| a lease | it ends (\`not_allowed\`), and conveyors that the station left running stop |
| a permit | it is lost until its PLC writes it again |
| a hold | it stays. An engineer lifts it |

### A change that goes wrong

If you save the file while the gateway reads it, it refuses half a file: reload again. While a refused file is on
the disk, the part \`configuration\` is *degraded*. With a mistake in it the next start fails.

## Keys

A section that is not there is off. The unit is in the name. The default is **bold**, and the range follows. A reload takes a key with ↻; with
\`↻ new\` only new entries, with \`↻ entries\` also removed ones. All other keys need a restart. \`listen.host\`
is an address; 0.0.0.0 is all of IPv4, :: is all. Port 0 is any free one. Certificates, keys and CAs are PEM
files. A role is [\`observer\`, \`operator\` or \`engineer\`](security-and-certificates.md#who-may-send-what).
`;
