import type { Connection, Connections as Facts } from "../../northbound/web/api/connection.ts";
import { figuresText, leftWord } from "../fleet/words.ts";
import type { Emphasis } from "../floor/scene.ts";
import { Certificates } from "./certificates.tsx";
import { Table, Time, Word } from "./parts.tsx";
import { Confirmed, usePolled } from "./polled.tsx";

/** The connections of the gateway to others, and what will end. */
export function Connections() {
  const polled = usePolled<Facts>(() => "/connections");
  const facts = polled.value;
  return (
    <>
      <h1>Connections</h1>
      <Confirmed polled={polled}>
        {facts !== null && (
          <>
            {facts.cluster !== undefined && <Cluster place={facts.cluster} />}
            <Parts connections={facts.connections} />
            <Peers connections={facts.connections} />
            <Queues queues={facts.queues} />
            <Expiries expiries={facts.expiries} />
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
    <Table caption="Cluster" columns={columns}>
      <tr>
        <td class="id">{member}</td>
        <td>
          <Word word={role} emphasis={roleEmphasis[role]} />
        </td>
        <td class={leader === null ? undefined : "id"}>{leader ?? unled_because ?? "none is known"}</td>
        <td>{epoch}</td>
        <td>{Math.floor(lag_ms / 1_000)} s</td>
        <td>{robots_in_doubt === 0 ? "0" : <Word word={`${robots_in_doubt}`} emphasis="abnormal" />}</td>
        <td class="id">{members.join(", ")}</td>
      </tr>
    </Table>
  );
}

function Parts({ connections }: { readonly connections: readonly Connection[] }) {
  return (
    <Table caption="Connections of the gateway" columns={["Part", "State", "Since", "Why"]}>
      {connections.map(({ name, state, since, detail }) => (
        <tr key={name}>
          <td>{partNames[name] ?? name}</td>
          <td>
            <Word word={state} emphasis={partEmphasis[state]} />
          </td>
          <td>
            <Time iso={since} isDated />
          </td>
          <td>{detail}</td>
        </tr>
      ))}
    </Table>
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
        columns={["What", "User or name", "Program", "Address", "State", "Since", "Why"]}
      >
        {peers.map(({ part, peer }, index) => (
          <tr key={`${part} ${index}`}>
            <td>{kinds[peer.kind]}</td>
            <td class="id">{peer.name}</td>
            <td class="id">{peer.client}</td>
            <td class="id">{peer.address}</td>
            <td>
              <Word word={peer.state} emphasis={peerEmphasis[peer.state]} />
            </td>
            <td>
              <Time iso={peer.since} isDated />
            </td>
            <td>{peer.detail}</td>
          </tr>
        ))}
      </Table>
    </>
  );
}

/** Without figures that are 0. */
function Queues({ queues }: Pick<Facts, "queues">) {
  return (
    <Table caption="Queues, and what they dropped since the start" columns={["Queue", "Figures"]}>
      {queues.map(({ name, figures }) => (
        <tr key={name}>
          <td>{name}</td>
          <td>{figuresText(figures)}</td>
        </tr>
      ))}
    </Table>
  );
}

function Expiries({ expiries }: Pick<Facts, "expiries">) {
  if (expiries.length === 0) return null;
  return (
    <Table caption="What expires" columns={["What", "Ends", "Left"]}>
      {expiries.map((expiry) => (
        <tr key={`${expiry.name} ${expiry.path}`}>
          <td title={expiry.path ?? undefined}>
            {expiry.kind === "token" ? "token for the " : "certificate "}
            {expiry.name}
          </td>
          <td>
            <Time iso={expiry.ends_at} isDated />
          </td>
          <td>
            <Word {...leftWord(expiry)} />
          </td>
        </tr>
      ))}
    </Table>
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
