// What a foreign stack of OPC UA is tried with, in this order.
import assert from "node:assert/strict";

const CART = "ns=2;s=Robots.cart-01";
const ENDED = 3;
const SUCCEEDED = 3;
/** An operation of a slot, and the severity of the event of a mission that was canceled. */
const CANCEL = 10;
const CANCELED = 400;

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

/** Each case: its name in the table of docs/scada.md, and what it does. */
export const cases = {
  async endpoints(stack, { url }) {
    const policies = await good(stack, "endpoints", url);
    assert.ok(policies.includes("None") && policies.includes("Basic256Sha256"), policies.join());
  },
  async "browse and read of every node"(stack, { url }) {
    await good(stack, "connect", url);
    const seen = new Set();
    for (const node of [CART, "ns=2;s=Gateway", "i=2253"])
      assert.ok((await readAll(stack, node, seen)) > 10, node);
  },
  async subscribe(stack) {
    await good(stack, "subscribe", "ns=2;s=Gateway.Heartbeat");
    const { value } = await stack.notified("ns=2;s=Gateway.Heartbeat", () => true);
    await stack.notified("ns=2;s=Gateway.Heartbeat", (next) => next !== value);
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
    await refused(stack, /^BadHistoryOperationUnsupported$/, "history", `${CART}.Battery.ChargePercent`);
    await good(stack, "disconnect");
  },
  async "signed and encrypted, with a password"(stack, { secure }) {
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
