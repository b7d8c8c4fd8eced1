// A process that a client may end: the built web listener with TLS. It tells its parent of its port, and of
// each handshake that failed.
import { createWebConnections, listenerBounds } from "../../../../.build/northbound/web/connections.js";
import { createHttpServer } from "../../../../.build/northbound/web/http-server.js";
import { systemClock } from "../../../../.build/platform/clock.js";
import { silentLog } from "../../../../.build/platform/log.js";
import { createCa, createServerCertificate } from "../../../../.build/simulator/tls/identity.js";

const authority = await createCa(Date.now());
const { key, certificate } = await createServerCertificate(authority, ["127.0.0.1"], Date.now());
const connections = createWebConnections(listenerBounds, systemClock, silentLog);
const server = createHttpServer(connections, silentLog, true);
server.server.setSecureContext({ key, cert: certificate });
server.get("/livez", async () => ({ alive: true }));
// After the listeners of the server itself.
server.server.on("tlsClientError", ({ code }) => process.send({ code }));
await server.listen({ host: "127.0.0.1", port: 0 });
process.send({ port: server.server.address().port, ca: authority.certificate });
