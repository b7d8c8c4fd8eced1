/**
 * What a reload does with each key that it changes. `scripts/configuration-doc.mjs` holds it against the
 * schema.
 */
export const effects = [
  {
    keys: ["log.level"],
    does: "every component logs by it, also one with a [level of its own](troubleshoot.md#log-levels)",
  },
  { keys: ["rights"], does: "the next command of each source is judged by the new rules" },
  {
    keys: ["opcua.users.*", "mqtt.users.*", "web.users.*", "web.tokens.*"],
    does: "one that is gone, or has another password, loses its sessions and connections; of `web` also one with another role or robots. Another role of an OPC UA user counts with the next write or call",
  },
  {
    keys: ["opcua.certificate", "opcua.key", "mqtt.certificate", "mqtt.key", "web.tls"],
    does: "new connections are shown the new certificate, open ones go on. The first certificate, the end of it, and another application URI need a restart",
  },
  {
    keys: ["opcua.authorities", "opcua.issuers", "opcua.revocationLists"],
    does: "clients that are trusted no more lose their sessions and connections",
  },
  {
    keys: ["opcua.reverseConnect"],
    does: "the gateway connects to a new address, and closes the connection to one that is gone",
  },
  {
    keys: ["mqtt.ca", "mqtt.clientCertificate", "mqtt.clientKey"],
    does: "other file names: the next connection to the broker uses them. New content [needs no reload](security-and-certificates.md#certificates-for-the-plants-broker)",
  },
  {
    keys: ["mqtt.placement", "stations.*.place"],
    does: "the gateway connects to the broker anew, publishes all state on the new topics, and clears the old ones some seconds later",
  },
  { keys: ["web.commands", "opcua.destinations"], does: "the next command is judged by it" },
  { keys: ["web.floor"], does: "open pages show it within seconds" },
  { keys: ["alarms.battery"], does: "each battery is judged by it; alarms come and go" },
  {
    keys: ["opcua.robots.*"],
    does: "a robot without nodes gets them under its alias. `Gateway.ModelHash` changes. Refused for a robot that has nodes, for another alias, and for an entry that is gone",
  },
  {
    keys: ["stations.*"],
    does: "a new station has its slot, tags and topics; those of one that is gone go. Refused while the station leases a robot, or a command of its slot has no outcome",
  },
  {
    keys: ["stations.*.destinations"],
    does: "leases, permit and tags go by them. Refused while the station leases a robot that would be elsewhere",
  },
  {
    keys: ["stations.*.users", "stations.*.clients"],
    does: "leases and permits of users that are not on the list any more end",
  },
  {
    keys: ["stations.*.heartbeatMs", "stations.*.maxRunMs", "stations.*.conveyors", "stations.*.load"],
    does: "counts from the last heartbeat, or for conveyors that are started from then on",
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
\`/usr/share/doc/fleetgate/examples\`) begin with what to change:

| example | for |
|---|---|
| \`one-line.yaml\` | one line and its PLC, by OPC UA |
| \`mosquitto.yaml\`, with \`mosquitto.conf\` and \`mosquitto.acl\` | a plant with a mosquitto of its own |
| \`opcua-authority.yaml\` | a plant whose CA signs the certificates of OPC UA |
| \`webhooks-proxy.yaml\`, with \`nginx.conf\` | [events by webhook](webhooks.md), in a network that only proxies leave |
| \`500-robots.yaml\` | several locations, many robots and clients |
| \`two-networks.yaml\` | a machine in the plant network and in the office network |

## Rules of the file

| topic | rule |
|---|---|
| unknown keys | are mistakes. \`check\` prints all, with line and nearest known key. \`run\` checks the same, and exits with 78 |
| a section that is not there | is off |
| secrets | stand in files of their own: an absolute path, one relative to the configuration, or \`credential:NAME\` of systemd. A password is the first line of its file, in UTF-8, as it is or [as a hash](security-and-certificates.md#passwords-of-users), without a space at either end |
| listeners | are on loopback until \`listen.host\` says otherwise. Beyond it, MQTT and the web need TLS and users |
| the fleet service | is reached with TLS only |
| \`gateway.dataDir\` | is for [one gateway](backup-and-recovery.md#the-data-directory) alone |

## Try it before the start

    sudo fleetgate check --online

This tries each part, 5 s at most, and says what is wrong and what to do. It sends no command, and writes no file.

| part | what it tries |
|---|---|
| \`gateway\`, \`disk\`, \`port\` | whether a gateway runs on the data folder; 100 MB of room; each listener |
| \`name\`, \`clock\`, \`connection\` | each host's name; this clock against the service's (2 s); TCP and TLS to each host |
| \`token\` | one exchange of the API key: one of the two in 5 minutes that the gateway leaves free |
| \`stream\` | one stream of missions until its first message |
| \`broker\`, \`broker client names\` | the plant's broker: user, subscriptions, one message; whether a client without a user may write as another |
| \`etcd\`, \`cluster member\` | with \`cluster\`: each member of etcd, and the gateway of each box |

The exit code is 0, 69 if a part is wrong, or 78 for mistakes of the file. Run it as root where the unit is
installed: it then takes credentials and data folder from the unit, and names files that the unit's user may
not read. \`--json\` prints one document, in which \`state\` is \`ok\`, \`wrong\` or \`skipped\`.

## Change it while the gateway runs

The gateway reads the whole file, and every file that it names. It takes all that is new, or nothing: after a
mistake, or if one change needs a restart, it goes on with what it had. \`systemctl reload\` then fails, and
\`journalctl -u fleetgate -p warning\` names each key with its reason.

| a way in | result |
|---|---|
| \`sudo systemctl reload fleetgate\` | fails when the file is refused |
| \`sudo fleetgate reload --config FILE\`, with \`--json\` too | prints what is in use now, or each key that is refused. Exit code 0, 78 (refused), 1 (no gateway answers), 6 (it went away: ask again) |
| SIGHUP | in the log |
| \`POST /api/v1/reload\` on the control socket | \`{"applied":[…],"refused":[{"path","reason"}],"warnings":[…],"hash"}\`; 200, or 409 when it was refused |

What a reload does at once:

| key | what follows |
|---|---|
${rows}

A password or certificate that was written over in its file counts as a change of its key. Files of
\`credential:NAME\` change with a restart only, and so do those of \`fleet\`. Each reload is a line of
[the audit log](security-and-certificates.md#the-audit-log), with \`Gateway.ConfigHash\` before and after.

### When a right is taken

| of a user without the right | becomes |
|---|---|
| a new command | refused with \`NOT_ALLOWED\` |
| a command that was accepted | sent. Cancel it, or hold the robot, to prevent that |
| a lease | ended, with the reason \`not_allowed\`; conveyors that the station left running are stopped |
| a permit | lost, until its PLC writes it again |
| a hold | kept. An engineer lifts it |

### A change that goes wrong

| case | what happens |
|---|---|
| the gateway ends in the middle | the next start reads the file as it is on the disk |
| the file is saved while the gateway reads it | half a file is refused. Reload when it is saved |
| several reloads, or one during the start | each waits, then the file of that moment counts |
| a reload while the gateway stops | is refused |
| a refused file stays on the disk | the part \`configuration\` is *degraded*. With a mistake in it the next start fails |

## Keys

The unit is in the name. The default is **bold**, and the range behind it. A reload takes a key with ↻. With
\`↻ new\` it takes only new entries, with \`↻ entries\` also those that are gone. All other keys need a
restart. \`listen.host\` is an address to listen on; 0.0.0.0 for all of IPv4, :: for all. Port 0 is any free one.
A file of a certificate, key or CA is PEM.
`;

export const foot = `
## How many OPC UA clients

One user never takes what another needs (\`opcua.limits\`):

| of | each user at most | kept for each user who commands | for each who only reads |
|---|---|---|---|
| sessions, \`maxSessions\` (100) in all | \`maxSessionsPerUser\` (50) | 4 | 1 |
| subscriptions, \`maxSubscriptions\` (1,000) in all | half of them | 8 | 2 |

A user with all its sessions gets one more only in place of its own longest idle one: one without a connection,
or silent for 30 s. Else the answer is \`BadTooManySessions\` or \`BadTooManySubscriptions\`, \`opcua\` is
*degraded* for a minute and names the user, and \`clients_refused\` counts. Give each PLC its own user.

| of | bound |
|---|---|
| a session without a user | ends after 10 s; 50 at most, 40 of one client |
| the session of a client that crashed | ends after two minutes |
| subscriptions of one session | 100 |
| unfinished requests of all connections | 32 MiB, and 30 s each; beyond it, the connection with most is closed |
`;
