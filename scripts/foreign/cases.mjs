// What a foreign stack of OPC UA is tried with, in this order.
import assert from "node:assert/strict";

const CART = "ns=2;s=Robots.cart-01";
const ENDED = 3;
const SUCCEEDED = 3;
const HEARTBEAT = "ns=2;s=Gateway.Heartbeat";
/** Methods of a condition, and the events around what a refresh gives. */
const CONDITION_REFRESH = ["ns=0;i=2782", "ns=0;i=3875"];
const ACKNOWLEDGE = "ns=0;i=9111";
const [REFRESH_START, REFRESH_END] = ["i=2787", "i=2788"];
/** An operation of a slot, and the severity of the event of a mission that was canceled. */
const CANCEL = 10;
const CANCELED = 400;
/** How many heartbeats the history may take to have a value. */
const HISTORY_HEARTBEATS = 60;

/** Asks, and insists on a good status. @returns the value */
async function good(stack, ...words) {
  const { status, value } = await stack.ask(...words);
  assert.equal(status, "Good", `${words.join(" ")}: ${status} ${JSON.stringify(value)}`);
  return value;
}

/** Asks for what the gateway must refuse. */
async function refused(stack, status, ...words) {
  assert.match((await stack.ask(...words)).status, status, words.join(" "));
}

/** Sends a command by a slot, with `write` for its number. Waits until it has ended well. */
async function sendBySlot(stack, slot, write) {
  await good(stack, "subscribe", `${slot}.Answer`);
  const number = await good(stack, "read", `${slot}.NextId`);
  await write(number);
  const { value } = await stack.notified(
    `${slot}.Answer`,
    (answer) => answer[9] === number && answer[10] >= ENDED,
  );
  assert.deepEqual([value[10], value[11]], [ENDED, SUCCEEDED]);
}

/** Reads every variable below a node. @returns how many there are */
async function readAll(stack, node, seen) {
  let count = 0;
  for (const child of await good(stack, "browse", node)) {
    if (seen.has(child)) continue;
    seen.add(child);
    const { status, value } = await stack.ask("read", child);
    assert.notEqual(status, "Failed", `${child}: ${value}`);
    count += 1 + (await readAll(stack, child, seen));
  }
  return count;
}

/** Cases in a session of their own at the demo. */
const inSession = {
  async "browse and read of every node"(stack) {
    const seen = new Set();
    for (const node of [CART, "ns=2;s=Gateway", "i=2253"])
      assert.ok((await readAll(stack, node, seen)) > 10, node);
  },
  async subscribe(stack) {
    await good(stack, "subscribe", HEARTBEAT);
    const { value } = await stack.notified(HEARTBEAT, () => true);
    await stack.notified(HEARTBEAT, (next) => next !== value);
  },
  async "slot write, array"(stack) {
    const slot = `${CART}.MissionSlot`;
    await sendBySlot(stack, slot, (number) =>
      good(stack, "write", `${slot}.Command`, "Int32[]", [number, 1, 1, ...Array(9).fill(0)].join()),
    );
  },
  async "events of a mission"(stack) {
    await good(stack, "events", "i=2253");
    const slot = `${CART}.MissionSlot`;
    await sendBySlot(stack, slot, (number) =>
      good(stack, "write", `${slot}.CommandText`, "String", `${number};${CANCEL}`),
    );
    await stack.notified("event", ([source, severity]) => source === "cart-01" && severity === CANCELED);
  },
  async "conditions: refresh, acknowledge"(stack, { happen }) {
    const condition = "ns=2;s=Robots.cart-02.Alarms.CONVEYOR_ERROR_1";
    const incident = { kind: "conveyor-health", robotId: "cart-02", index: 1 };
    const is = (acknowledged, retain) => (fields) =>
      fields[3] === condition && fields[5] === acknowledged && fields[6] === retain;
    const subscription = await good(stack, "conditions", "i=2253");
    await happen({ ...incident, ok: false });
    try {
      const { at } = await stack.notified("event", is(false, true));
      await good(stack, "call", ...CONDITION_REFRESH, "UInt32", subscription);
      const start = await stack.notified("event", (fields) => fields[2] === REFRESH_START, at);
      const end = await stack.notified("event", (fields) => fields[2] === REFRESH_END, start.at);
      const standing = await stack.notified("event", is(false, true), start.at);
      assert.ok(standing.at < end.at, "the refresh leaves out a condition that stands");

      const eventId = standing.value[4];
      const call = ["call", condition, ACKNOWLEDGE, "ByteString", eventId, "LocalizedText", "seen"];
      await good(stack, ...call);
      await stack.notified("event", is(true, true), end.at);
      await refused(stack, /^BadConditionBranchAlreadyAcked$/, ...call);
    } finally {
      await happen({ ...incident, ok: true });
    }
    await stack.notified("event", is(true, false));
  },
  async history(stack) {
    const tag = `${CART}.Battery.ChargePercent`;
    await good(stack, "subscribe", HEARTBEAT);
    // A value comes into the history when its 30 s are over.
    let values = [];
    for (let heartbeats = 0, at = 0; values.length === 0 && heartbeats < HISTORY_HEARTBEATS; heartbeats++) {
      at = (await stack.notified(HEARTBEAT, () => true, at)).at + 1;
      values = (await good(stack, "history", tag)).filter(Number.isFinite);
    }
    assert.ok(values.length > 0, "no value");
    assert.ok(values.includes(await good(stack, "read", tag)), values.join());
  },
  async "slot write, text"(stack) {
    const slot = "ns=2;s=Robots.serve-01.MissionSlot";
    await sendBySlot(stack, slot, (number) =>
      good(stack, "write", `${slot}.CommandText`, "String", `${number};30`),
    );
  },
  async method(stack) {
    const expiresAt = new Date(Date.now() + 60_000).toISOString();
    const words = ["String", "try-1", "DateTime", expiresAt, "String", "Station A"];
    const call = ["call", "ns=2;s=Robots.cart-02", "ns=2;s=RobotMethods.Navigate", ...words];
    const outputs = await good(stack, ...call);
    assert.equal(outputs[0], SUCCEEDED);
    assert.deepEqual(await good(stack, ...call), outputs);
  },
  async refusals(stack) {
    await refused(stack, /^BadNodeIdUnknown$/, "read", "ns=2;s=Robots.nobody");
    await refused(stack, /^BadTypeMismatch$/, "write", `${CART}.MissionSlot.Command`, "String", "text");
    await refused(stack, /^BadNotWritable$/, "write", `${CART}.MissionSlot.NextId`, "Int32", "1");
    await refused(stack, /^BadHistoryOperationUnsupported$/, "history", HEARTBEAT);
  },
};

/** Each case: its name in the table of docs/scada.md, and what it does. The runner ends its session. */
export const cases = {
  async endpoints(stack, { url }) {
    const policies = await good(stack, "endpoints", url);
    assert.ok(policies.includes("None") && policies.includes("Basic256Sha256"), policies.join());
  },
  ...Object.fromEntries(
    Object.entries(inSession).map(([name, run]) => [
      name,
      async (stack, plant) => {
        await good(stack, "connect", plant.url);
        await run(stack, plant);
      },
    ]),
  ),
  async "signed, encrypted, with a password"(stack, { secure }) {
    for (const policy of ["Basic256Sha256", "Aes128_Sha256_RsaOaep", "Aes256_Sha256_RsaPss"]) {
      const words = ["connect", secure.url, policy, secure.certificate, secure.key, secure.user];
      if (policy === "Basic256Sha256") {
        // A new client is refused until an operator approves its certificate.
        await refused(stack, /^BadSecurityChecksFailed$/, ...words, secure.password);
        secure.approve();
      }
      await refused(stack, /^Bad/, ...words, "wrong");
      await good(stack, ...words, secure.password);
      assert.equal(await good(stack, "read", `${CART}.ReadyForCommand`), true);
      await good(stack, "write", `${CART}.Hold`, "Boolean", "false");
      await good(stack, "disconnect");
    }
  },
};
