import { once } from "node:events";
import { type AddressInfo, connect, createServer, type Socket } from "node:net";
import { afterEach, expect, test } from "vitest";
import { startLateWire } from "./late-wire.ts";

const closers: Array<() => unknown> = [];
afterEach(async () => {
  for (const close of closers.splice(0).reverse()) await close();
});

/** A client whose first byte waits on a dead wire, and what the server has read when its side has ended. */
async function open() {
  const server = createServer();
  server.listen(0, "127.0.0.1");
  await once(server, "listening");
  closers.push(() => server.close());
  const wire = await startLateWire((server.address() as AddressInfo).port);
  closers.push(() => wire.close());
  const accepted = once(server, "connection");
  const client = connect(wire.port, "127.0.0.1");
  closers.push(() => client.destroy());
  const [peer] = (await accepted) as [Socket];
  let read = "";
  peer.on("data", (bytes) => {
    read += String(bytes);
  });
  const ended = once(peer, "close").then(() => read);
  wire.die();
  client.write("a");
  await wire.next("held");
  return { wire, client, ended };
}

test("what was sent arrives when the wire is healed, though its sender has ended", async () => {
  const { wire, client, ended } = await open();
  client.end("b");
  await wire.next("held");
  expect(await wire.heal()).toBe(2);
  expect(await ended).toBe("ab");
});

test("what waits is taken back by a reset", async () => {
  const { wire, client, ended } = await open();
  const reset = wire.next("reset");
  client.resetAndDestroy();
  await reset;
  expect(await wire.heal()).toBe(0);
  expect(await ended).toBe("");
});

test("what waits is taken back by a reset that comes together with the last bytes", async () => {
  const { wire, client, ended } = await open();
  const reset = wire.next("reset");
  client.write("b");
  client.resetAndDestroy();
  await reset;
  expect(await wire.heal()).toBe(0);
  expect(await ended).toBe("");
});

test("what waits is taken back by a reset that follows an orderly end", async () => {
  const { wire, client, ended } = await open();
  client.end();
  await wire.next("held");
  client.resetAndDestroy();
  expect(await wire.heal()).toBe(0);
  expect(await ended).toBe("");
});
