// The broker that all sides publish to, in a process of its own: its cost is nobody's.

import type { AddressInfo } from "node:net";
import { createServer } from "node:net";
import { Aedes } from "aedes";

const broker = await Aedes.createBroker({ concurrency: 5_000, queueLimit: 5_000 });
const server = createServer({ noDelay: true }, broker.handle);
server.listen(0, "127.0.0.1", () => process.send?.({ port: (server.address() as AddressInfo).port }));
