import type { Connection, Connections as Facts } from "../../northbound/web/api/gateway.ts";
import { figuresText, leftWord, peerEmphasis, peersByNeed } from "../fleet/plant-words.ts";
import type { Emphasis } from "../floor/scene.ts";
import { inWords, numberText, type PlainKey, say, word } from "../texts/texts.ts";
import { Address, WithAddresses } from "./address.tsx";
import { Certificates } from "./certificates.tsx";
import { Ago, Says, Table, Time, TimeZone, Word } from "./parts.tsx";
import { Confirmed, usePolled } from "./polled.tsx";

/** The connections of the gateway to others, and what will end. */
export function Connections() {
  const polled = usePolled<Facts>(() => "/connections");
  const facts = polled.value;
  return (
    <>
      <div>
        <h1>{say("rail.connections")}</h1>
        <TimeZone />
      </div>
      <Confirmed polled={polled}>
        {facts !== null && (
          <>
            {facts.cluster !== undefined && <Cluster place={facts.cluster} />}
            <Parts connections={facts.connections} />
            <Peers connections={facts.connections} />
            <div class="columns">
              <Queues queues={facts.queues} />
              <Expiries expiries={facts.expiries} />
            </div>
            <Disk disk={facts.disk} />
          </>
        )}
      </Confirmed>
      <Certificates />
    </>
  );
}

const roleEmphasis: Readonly<Record<NonNullable<Facts["cluster"]>["role"], Emphasis>> = {
  leader: "normal",
  standby: "normal",
  "no proof": "alarm",
};

function Cluster({ place }: { readonly place: NonNullable<Facts["cluster"]> }) {
  const { member, role, epoch, leader, unled_because, lag_ms, robots_in_doubt, members } = place;
  const columns = (["box", "role", "leader", "epoch", "behind", "doubt", "boxes"] as const).map((name) =>
    say(`connections.${name}`),
  );
  return (
    <Table
      caption={say("connections.cluster")}
      columns={columns}
      rows={[
        {
          key: member,
          cells: [
            <span class="id">{member}</span>,
            <Word word={word(role)} emphasis={roleEmphasis[role]} />,
            <span class={leader === null ? undefined : "id"}>
              {leader ?? unled_because ?? say("connections.noLeader")}
            </span>,
            epoch,
            lag_ms === null ? "–" : say("connections.seconds", { count: Math.floor(lag_ms / 1_000) }),
            robots_in_doubt === 0 ? "0" : <Word word={`${robots_in_doubt}`} emphasis="abnormal" />,
            <span class="id">{members.join(", ")}</span>,
          ],
        },
      ]}
    />
  );
}

function Parts({ connections }: { readonly connections: readonly Connection[] }) {
  return (
    <Table
      caption={say("connections.parts")}
      columns={[
        say("connections.part"),
        say("connections.state"),
        say("connections.since"),
        { name: say("connections.why"), class: "wide" },
      ]}
      rows={connections.map(({ name, state, since, detail }) => ({
        key: name,
        cells: [
          partName(name),
          <Word word={word(state)} emphasis={partEmphasis[state]} />,
          <Ago iso={since} />,
          <WithAddresses text={inWords(detail)} />,
        ],
      }))}
    />
  );
}

const partNames: Readonly<Record<string, PlainKey>> = {
  fleet: "part.fleet",
  mqtt: "part.mqtt",
  "mqtt-broker": "part.mqttBroker",
  sparkplug: "part.sparkplug",
  opcua: "part.opcua",
  web: "part.web",
  control: "part.control",
};

function partName(name: string): string {
  const known = partNames[name];
  return known === undefined ? name : say(known);
}

const partEmphasis: Readonly<Record<Connection["state"], Emphasis>> = {
  up: "normal",
  starting: "abnormal",
  degraded: "abnormal",
  down: "alarm",
};

function Peers({ connections }: { readonly connections: readonly Connection[] }) {
  const peers = peersByNeed(connections);
  const listed = peers.length;
  const count = connections.reduce((sum, { peer_count }) => sum + peer_count, 0);
  if (listed === 0) return <p>{say("connections.nobody")}</p>;
  return (
    <>
      {count > listed && <p>{say("connections.many", { all: count, listed })}</p>}
      <Table
        caption={say("connections.who")}
        columns={[
          say("connections.what"),
          say("connections.user"),
          say("connections.program"),
          say("connections.address"),
          say("connections.state"),
          say("connections.since"),
          say("connections.why"),
        ]}
        rows={peers.map(({ part, peer }, index) => ({
          key: `${part} ${index}`,
          cells: [
            say(`peer.${peer.kind}`),
            <span class="id">
              <WithAddresses text={peer.kind === "broker" ? inWords(peer.name) : peer.name} />
            </span>,
            peer.client && (
              <span class="id one-line" title={peer.client}>
                {peer.client}
              </span>
            ),
            peer.address && (
              <span class="number">
                <Address text={peer.address} />
              </span>
            ),
            <Word word={word(peer.state)} emphasis={peerEmphasis[peer.state]} />,
            <Ago iso={peer.since} />,
            <WithAddresses text={inWords(peer.detail)} />,
          ],
        }))}
      />
    </>
  );
}

const queueNames: Readonly<Record<string, PlainKey>> = {
  mqtt: "queue.mqtt",
  opcua: "queue.opcua",
  sparkplug: "queue.sparkplug",
  api: "queue.api",
  outbox: "queue.outbox",
  terminal: "queue.terminal",
  journald: "queue.journald",
};

function queueName(name: string): string {
  const known = queueNames[name];
  return known === undefined ? name : say(known);
}

/** Without figures that are 0. */
function Queues({ queues }: Pick<Facts, "queues">) {
  return (
    <Table
      caption={say("connections.queues")}
      columns={[say("connections.queue"), { name: say("connections.figures"), class: "wide" }]}
      rows={queues.map(({ name, figures }) => ({
        key: name,
        cells: [queueName(name), figuresText(figures)],
      }))}
    />
  );
}

function Expiries({ expiries }: Pick<Facts, "expiries">) {
  if (expiries.length === 0) return null;
  return (
    <Table
      caption={say("connections.expires")}
      columns={[say("connections.what"), say("connections.ends"), say("connections.left")]}
      rows={expiries.map((expiry) => ({
        key: `${expiry.name} ${expiry.path}`,
        cells: [
          <span title={expiry.path ?? undefined}>
            {say(expiry.kind === "token" ? "connections.token" : "connections.certificate", {
              name: word(expiry.name),
            })}
          </span>,
          <Time iso={expiry.ends_at} isDated />,
          <Word {...leftWord(expiry)} />,
        ],
      }))}
    />
  );
}

/** The unit of `fleetgate status`. */
const GB = 1e9;

function Disk({ disk: { path, free_bytes: free, detail } }: Pick<Facts, "disk">) {
  const shown = {
    path: <span class="id">{path}</span>,
    detail: <WithAddresses text={detail} />,
  };
  if (free === null)
    return (
      <p>
        <Says of={detail === "" ? "connections.diskUnknown" : "connections.diskUnknownDetail"} {...shown} />
      </p>
    );
  const gigabytes = numberText(free / GB, 1);
  return (
    <p>
      <Says of={detail === "" ? "connections.disk" : "connections.diskDetail"} {...shown} free={gigabytes} />
    </p>
  );
}
