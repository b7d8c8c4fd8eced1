import { randomBytes } from "node:crypto";
import { once } from "node:events";
import { request as httpRequest, type IncomingMessage } from "node:http";
import { connect } from "node:net";
import mqtt from "mqtt";
import {
  ActivateSessionRequest,
  CreateSessionRequest,
  CreateSessionResponse,
  UserNameIdentityToken,
} from "node-opcua";
import { encoded, frame, openRawChannel } from "../northbound/opcua/raw-client.ts";

/** Sends a password over OPC UA in every way that fails. Rejects when one of them is let in. */
export async function failOverOpcUa(url: string, userName: string, secret: string): Promise<void> {
  const password = Buffer.from(secret);
  const tokens = [
    { policyId: "username_basic256Sha256", userName, password },
    { policyId: "username_basic256Sha256", userName, password, encryptionAlgorithm: "urn:none" },
    { policyId: "username_basic256Sha256", userName: secret, password },
    { policyId: secret, userName, password },
    { policyId: "username_unsecure", userName: secret, password },
  ].map((token) => new UserNameIdentityToken(token));
  for (const userIdentityToken of tokens) {
    const channel = await openRawChannel(url);
    const create = (endpointUrl: string) =>
      channel.call(
        new CreateSessionRequest({
          clientDescription: { applicationUri: `urn:${secret}` },
          endpointUrl,
          sessionName: secret,
          requestedSessionTimeout: 20_000,
          clientNonce: randomBytes(32),
        }),
      );
    await create(`opc.tcp://${userName}:${secret}@elsewhere`);
    const created = await create(url);
    if (created?.status !== 0) throw new Error("no session was created");
    const { authenticationToken } = created.read(new CreateSessionResponse());
    const request = new ActivateSessionRequest({ requestHeader: { authenticationToken }, userIdentityToken });
    const answer = await channel.call(request);
    if (answer?.status === 0) throw new Error("a session was opened");
    const cut = encoded(request).subarray(0, -9);
    channel.send(channel.message("F", cut));
    channel.send(channel.message("F", Buffer.concat([Buffer.from([1, 0, 0xff, 0xff]), password])));
    channel.send(frame("ERRF", Buffer.concat([Buffer.alloc(8), password])));
    await channel.closed;
  }
}

/** Logs on at an MQTT broker with a password that is wrong, as a name, and in packets that are none. */
export async function failOverMqtt(url: string, username: string, secret: string): Promise<void> {
  const attempts = [
    { username, password: secret },
    { username: secret, password: secret },
    { username, password: secret, clientId: secret },
    {
      username,
      password: secret,
      will: { topic: secret, payload: Buffer.from(secret), qos: 0, retain: true },
    },
  ] as const;
  for (const options of attempts) {
    await mqtt.connectAsync(url, { ...options, reconnectPeriod: 0, protocolVersion: 4 }, false).then(
      () => Promise.reject(new Error("it was let in")),
      () => {},
    );
  }
  await sendBytes(url, Buffer.concat([Buffer.from([0x10, 0x7f]), Buffer.from(secret.repeat(4))]));
  await sendBytes(url, Buffer.from(`GET /?password=${secret} HTTP/1.1\r\n\r\n`));
}

/** Sends a secret in every part of an HTTP request, well formed or not. */
export async function failOverHttp(url: string, secret: string): Promise<readonly string[]> {
  const basic = `Basic ${Buffer.from(`admin:${secret}`).toString("base64")}`;
  const headers = { authorization: basic, cookie: `session=${secret}`, "x-api-key": secret };
  const answers = [
    await fetch(`${url}/healthz?password=${secret}`, { headers }),
    await fetch(`${url}/${secret}`, { headers }),
    await fetch(`${url}/%ff${secret}`, { headers }),
    await fetch(`${url}/healthz`, {
      method: "POST",
      headers,
      body: JSON.stringify({ secret: secret.repeat(200) }),
    }),
  ];
  await sendBytes(url, Buffer.from(`GET / HTTP/1.1\r\nhost: x\r\nauthorization ${secret}\r\n\r\n`));
  await sendBytes(url, Buffer.from(`${secret} / HTTP/9\r\n\r\n`));
  // A server may quote a path to the client who sent it; nobody else reads that.
  return answers.map(({ status }) => String(status));
}

/**
 * Sends requests with a secret to the control socket; those that are answered are answered to the client
 * alone.
 */
export async function failOverSocket(path: string, secret: string): Promise<void> {
  const request = { robotId: "cart-01", secret };
  const bodies = [
    { operation: "CreateWebhook", request: { webhook: { secret } } },
    { operation: "CreateWebhook", request: { secret: { secret } } },
    { operation: "PauseRobot", request, token: secret },
  ].map((body) => JSON.stringify(body));
  const paths = ["/api/v1/commands/1", `/api/v1/hold/${secret}`];
  for (const body of [...bodies, `{"password":"${secret}"`])
    for (const to of paths) await put(path, to, body, { authorization: secret });
  await put(path, "/api/v1/hold", bodies[2] ?? "", { "fleetgate-user": `${secret}/` });
}

async function put(
  socketPath: string,
  path: string,
  body: string,
  headers: Readonly<Record<string, string>>,
): Promise<void> {
  const request = httpRequest({
    socketPath,
    path,
    method: "PUT",
    agent: false,
    headers: { ...headers, "content-type": "application/json", "content-length": Buffer.byteLength(body) },
  });
  request.end(body);
  const [response] = (await once(request, "response")) as [IncomingMessage];
  response.resume();
  await once(response, "end");
}

/** Sends bytes, and waits until the server hangs up or has nothing to say. */
async function sendBytes(url: string, bytes: Buffer): Promise<void> {
  const { hostname, port } = new URL(url.replace(/^[a-z.]+:/, "http:"));
  const socket = connect({ host: hostname, port: Number(port) });
  socket.on("error", () => socket.destroy());
  socket.resume();
  socket.end(bytes);
  await once(socket, "close");
}
