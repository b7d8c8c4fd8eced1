// The plant in the container of boot.test.ts: a client of MQTT, or a PLC. debian-root.ts bundles it.
//
//     plant.mjs mission ROBOT ID   sends the robot to Station A by MQTT, prints the reply
//     plant.mjs slot ROBOT         sends it by writing its slot, prints ticket, status and outcome
import { connectAsync } from "mqtt";

const BASE = "fleetgate/plant1/clients/boot";

async function mission(robotId, id) {
  const client = await connectAsync("mqtt://127.0.0.1:1883", { protocolVersion: 4 });
  await client.subscribeAsync(`${BASE}/reply/#`, { qos: 1 });
  const reply = new Promise((resolve) => {
    client.on("message", (_topic, payload) => resolve(payload.toString()));
  });
  const goal = { destinationId: "Station A" };
  const request = { robotId, mission: { baseMission: { navigateMission: { goal } } } };
  const command = JSON.stringify({ id, expires_in_ms: 10_000, request });
  await client.publishAsync(`${BASE}/command/CreateMission`, command, { qos: 1 });
  const said = await reply;
  await client.endAsync();
  return said;
}

async function slot(robotId) {
  // Not at the top: a mission by MQTT would load all of it for nothing.
  const { AttributeIds, MessageSecurityMode, OPCUAClient, SecurityPolicy } = await import("node-opcua");
  const client = OPCUAClient.create({
    securityMode: MessageSecurityMode.None,
    securityPolicy: SecurityPolicy.None,
    endpointMustExist: false,
    connectionStrategy: { maxRetry: 3, initialDelay: 100 },
  });
  await client.connect("opc.tcp://127.0.0.1:4840");
  const session = await client.createSession();
  const namespace = (await session.readNamespaceArray()).indexOf("urn:fleetgate:fleet");
  const nodeId = (name) => `ns=${namespace};s=Robots.${robotId}.MissionSlot.${name}`;
  const read = async (name) =>
    (await session.read({ nodeId: nodeId(name), attributeId: AttributeIds.Value })).value.value;
  const until = async (name, is) => {
    for (;;) {
      const value = await read(name);
      if (is(value)) return value;
      await new Promise((resolve) => setTimeout(resolve, 50));
    }
  };
  const ticket = await until("NextId", (value) => value > 0);
  const status = await session.write({
    nodeId: nodeId("CommandText"),
    attributeId: AttributeIds.Value,
    value: { value: { dataType: "String", value: `${ticket};1;Station A` } },
  });
  await until("DoneId", (value) => value === ticket);
  const answer = { ticket, status: status.name, outcome: await read("Outcome") };
  await session.close();
  await client.disconnect();
  return JSON.stringify(answer);
}

const [what, ...rest] = process.argv.slice(2);
const late = setTimeout(() => {
  process.stderr.write(`${what}: no answer within 30 s\n`);
  process.exit(1);
}, 30_000);
process.stdout.write(`${await (what === "mission" ? mission(...rest) : slot(...rest))}\n`);
clearTimeout(late);
