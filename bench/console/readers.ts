// Clients of the console's stream, which read all and draw nothing.
import { type ClientRequest, get } from "node:http";
import type { ReadersReply, ReadersRequest } from "./protocol.ts";

const [address = ""] = process.argv.slice(2);
const clients: ClientRequest[] = [];
let [changes, bytes, ended] = [0, 0, 0];

function open(): ClientRequest {
  const client = get(`${address}/api/v1/stream`, { agent: false }, (response) => {
    response.setEncoding("latin1");
    response.on("data", (piece: string) => {
      bytes += piece.length;
      // A piece may begin within the word; changes are counted to see that they came, and not exactly.
      if (piece.includes("event: change")) changes += 1;
    });
    response.on("error", () => {});
    response.on("close", () => {
      if (clients.includes(client)) ended += 1;
    });
  });
  client.on("error", () => {});
  return client;
}

// Its parent ends it; nothing else keeps it alive while it has no clients.
setInterval(() => {}, 60_000);
process.on("message", (request: ReadersRequest) => {
  while (clients.length < request.clients) clients.push(open());
  for (const client of clients.splice(request.clients)) client.destroy();
  process.send?.({ kind: "read", changes, bytes, ended } satisfies ReadersReply);
  [changes, bytes, ended] = [0, 0, 0];
});
