import { once } from "node:events";
import { type IncomingHttpHeaders, type IncomingMessage, request as sendRequest } from "node:http";
import type { AddressInfo } from "node:net";
import { text } from "node:stream/consumers";
import type { RefusedRequest, SessionChange } from "../../../../src/contracts/commander.ts";
import type { Outcome } from "../../../../src/domain/outcome.ts";
import { type Access, createAccess } from "../../../../src/northbound/web/access/access.ts";
import { createWebConnections, listenerBounds } from "../../../../src/northbound/web/connections.ts";
import { createHttpServer } from "../../../../src/northbound/web/http-server.ts";
import type { WebAccess } from "../../../../src/northbound/web/options.ts";
import { addJsonBodies } from "../../../../src/northbound/web/request-body.ts";
import { silentLog } from "../../../../src/platform/log.ts";
import { createManualClock, type ManualClock } from "../../../support/manual-clock.ts";

export interface Answer {
  readonly status: number;
  readonly headers: IncomingHttpHeaders;
  /** Parsed JSON; null: there was no body. */
  readonly body: unknown;
}

/** What the audit log was told. */
export type Told =
  | (SessionChange & { readonly kind: "session" })
  | (RefusedRequest & Pick<Outcome, "code" | "message"> & { readonly kind: "refused" });

/** A server with the guard, the routes of sessions, and routes of the test: one answers, one never ends. */
export interface AccessHarness extends AsyncDisposable {
  readonly port: number;
  readonly access: Access;
  readonly clock: ManualClock;
  readonly told: readonly Told[];
  /** Puts other users and tokens in place, as a reload does. */
  reload(options: Partial<WebAccess>): void;
  ask(method: string, path: string, headers?: Headers, body?: unknown): Promise<Answer>;
  logIn(user: string, password: string, headers?: Headers): Promise<Answer>;
  /** Opens a request that never ends. The result resolves when the server has closed it. */
  follow(headers?: Headers): Promise<{ readonly closed: Promise<void> }>;
}

type Headers = Readonly<Record<string, string>>;

const open: WebAccess = { users: [], tokens: [], movesFrom: null };

export async function createAccessHarness(
  first: Partial<WebAccess>,
  gatewayId = "plant1",
): Promise<AccessHarness> {
  let options: WebAccess = { ...open, ...first };
  const clock = createManualClock();
  const told: Told[] = [];
  const audit = {
    refused: (request: RefusedRequest, { code, message }: Outcome) =>
      void told.push({ ...request, code, message, kind: "refused" }),
    session: (change: SessionChange) => void told.push({ ...change, kind: "session" }),
  };
  const access = createAccess(() => options, { gatewayId, isTls: false, audit, clock, log: silentLog });
  const server = createHttpServer(createWebConnections(listenerBounds, clock, silentLog), silentLog);
  addJsonBodies(server);
  access.addTo(server);
  server.get("/api/v1/thing", async (request, reply) => reply.send(access.viewerOf(request)));
  server.get("/metrics", async (_request, reply) => reply.send({}));
  server.get("/api/v1/endless", (_request, reply) => {
    reply.hijack();
    reply.raw.writeHead(200).write("begun");
  });
  await server.listen({ host: "127.0.0.1", port: 0 });
  const { port } = server.server.address() as AddressInfo;

  const ask: AccessHarness["ask"] = async (method, path, headers = {}, body = undefined) => {
    const content = body === undefined ? "" : JSON.stringify(body);
    const length = body === undefined ? {} : { "content-length": String(Buffer.byteLength(content)) };
    const type = body === undefined ? {} : { "content-type": "application/json" };
    const request = sendRequest({
      host: "127.0.0.1",
      port,
      method,
      path,
      headers: { ...type, ...length, ...headers },
      agent: false,
    });
    request.end(content);
    const [response] = (await once(request, "response")) as [IncomingMessage];
    const answer = await text(response);
    return {
      status: response.statusCode ?? 0,
      headers: response.headers,
      body: answer === "" ? null : JSON.parse(answer),
    };
  };

  return {
    port,
    access,
    clock,
    told,
    reload(changed) {
      options = { ...options, ...changed };
      access.changed();
    },
    ask,
    logIn: (user, password, headers) => ask("POST", "/api/v1/session", headers, { user, password }),
    async follow(headers = {}) {
      const request = sendRequest({
        host: "127.0.0.1",
        port,
        path: "/api/v1/endless",
        headers,
        agent: false,
      }).end();
      const [response] = (await once(request, "response")) as [IncomingMessage];
      response.on("error", () => {}).resume();
      return { closed: new Promise((resolve) => response.once("close", resolve)) };
    },
    async [Symbol.asyncDispose]() {
      access.close();
      server.server.closeAllConnections();
      await server.close();
    },
  };
}

/** The cookie that an answer sets, as a browser sends it back. */
export function cookieOf({ headers }: Answer): string {
  return String(headers["set-cookie"]?.[0]).split(";", 1)[0] ?? "";
}
