import { once } from "node:events";
import { type AddressInfo, connect } from "node:net";
import { text } from "node:stream/consumers";
import { connect as connectTls, createServer } from "node:tls";
import { afterEach, beforeEach, expect, it } from "vitest";
import { answerLast } from "../../src/platform/listener.ts";
import { createCa, createServerCertificate } from "../../src/simulator/tls/identity.ts";

const authority = await createCa(Date.now());
const { key, certificate } = await createServerCertificate(authority, ["127.0.0.1"], Date.now());

const server = createServer({ key, cert: certificate, handshakeTimeout: 100 });
beforeEach(async () => {
  server.listen(0, "127.0.0.1");
  await once(server, "listening");
});
afterEach(() => {
  server.removeAllListeners("secureConnection").close();
});

const port = () => (server.address() as AddressInfo).port;

it("answers a connection whose handshake is finished, and closes it", async () => {
  server.on("secureConnection", (socket) => answerLast(socket, "the answer"));
  const client = connectTls({ host: "127.0.0.1", port: port(), ca: authority.certificate });
  expect(await text(client)).toBe("the answer");
});

it("closes a connection whose handshake is not finished, and writes nothing to it", async () => {
  const client = connect(port(), "127.0.0.1").resume();
  const closed = once(client, "close");
  const [, socket] = await once(server, "tlsClientError");
  answerLast(socket, "the answer");
  expect([socket.destroyed, socket.writableLength]).toEqual([true, 0]);
  await closed;
});
