import type { Connection, Connections as Facts } from "../../northbound/web/api/connection.ts";
import { figuresText, leftWord } from "../fleet/words.ts";
import type { Emphasis } from "../floor/scene.ts";
import { Certificates } from "./certificates.tsx";
import { Ago, Table, Time, TimeZone, Word } from "./parts.tsx";
import { Confirmed, usePolled } from "./polled.tsx";

/** The connections of the gateway to others, and what will end. */
export function Connections() {
  const polled = usePolled<Facts>(() => "/connections");
  const facts = polled.value;
  return (
    <>
      <div>
        <h1>Connections</h1>
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
  const columns = ["This box", "Role", "Leader", "Epoch", "Behind", "Robots in doubt", "Boxes"];
  return (
    <Table
      caption="Cluster"
      columns={columns}
      rows={[
        {
          key: member,
          cells: [
            <span class="id">{member}</span>,
            <Word word={role} emphasis={roleEmphasis[role]} />,
            <span class={leader === null ? undefined : "id"}>
              {leader ?? unled_because ?? "none is known"}
            </span>,
            epoch,
            `${Math.floor(lag_ms / 1_000)} s`,
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
      caption="Connections of the gateway"
      columns={["Part", "State", "Since", { name: "Why", class: "wide" }]}
      rows={connections.map(({ name, state, since, detail }) => ({
        key: name,
        cells: [
          partNames[name] ?? name,
          <Word word={state} emphasis={partEmphasis[state]} />,
          <Ago iso={since} />,
          detail,
        ],
      }))}
    />
  );
}

const partNames: Readonly<Record<string, string>> = {
  fleet: "Fleet service",
  mqtt: "MQTT broker",
  "mqtt-broker": "Embedded MQTT broker",
  opcua: "OPC UA server",
  web: "Web listener",
  control: "Control socket",
};

const partEmphasis: Readonly<Record<Connection["state"], Emphasis>> = {
  up: "normal",
  starting: "abnormal",
  degraded: "abnormal",
  down: "alarm",
};

type Peer = Connection["peers"][number];

const kinds: Readonly<Record<Peer["kind"], string>> = {
  broker: "broker",
  session: "OPC UA session",
  reader: "console or program that follows",
};

const peerEmphasis: Readonly<Record<Peer["state"], Emphasis>> = {
  connected: "normal",
  unused: "normal",
  waiting: "abnormal",
  lost: "abnormal",
};

function Peers({ connections }: { readonly connections: readonly Connection[] }) {
  const peers = connections.flatMap(({ name, peers: all }) => all.map((peer) => ({ part: name, peer })));
  const listed = peers.length;
  const count = connections.reduce((sum, { peer_count }) => sum + peer_count, 0);
  if (listed === 0) return <p>Nobody is connected.</p>;
  return (
    <>
      {count > listed && (
        <p>
          {count} are connected, {listed} are listed.
        </p>
      )}
      <Table
        caption="Who is connected"
        columns={[
          "What",
          "User or name",
          "Program",
          { name: "Address", class: "fixed" },
          "State",
          "Since",
          "Why",
        ]}
        rows={peers.map(({ part, peer }, index) => ({
          key: `${part} ${index}`,
          cells: [
            kinds[peer.kind],
            <span class="id">{peer.name}</span>,
            <span class="id">{peer.client}</span>,
            <span class="number">{peer.address}</span>,
            <Word word={peer.state} emphasis={peerEmphasis[peer.state]} />,
            <Ago iso={peer.since} />,
            peer.detail,
          ],
        }))}
      />
    </>
  );
}

/** Without figures that are 0. */
function Queues({ queues }: Pick<Facts, "queues">) {
  return (
    <Table
      caption="Queues, and what they dropped since the start"
      columns={["Queue", { name: "Figures", class: "wide" }]}
      rows={queues.map(({ name, figures }) => ({ key: name, cells: [name, figuresText(figures)] }))}
    />
  );
}

function Expiries({ expiries }: Pick<Facts, "expiries">) {
  if (expiries.length === 0) return null;
  return (
    <Table
      caption="What expires"
      columns={["What", "Ends", "Left"]}
      rows={expiries.map((expiry) => ({
        key: `${expiry.name} ${expiry.path}`,
        cells: [
          <span title={expiry.path ?? undefined}>
            {expiry.kind === "token" ? "token for the " : "certificate "}
            {expiry.name}
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
  return (
    <p>
      Disk of <span class="id">{path}</span>:{" "}
      {free === null ? "not known how much is free" : `${(free / GB).toFixed(1)} GB free`}
      {detail !== "" && ` ◆ ${detail}`}
    </p>
  );
}
