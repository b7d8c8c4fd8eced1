// An OPC UA client of the plant, in a process that is nobody's cost.
import { browseAll } from "./browse.ts";
import type { ClientReply, ClientRequest } from "./protocol.ts";
import { openPlantSession } from "./session.ts";
import { writeSlots } from "./slots.ts";

async function serve(request: ClientRequest): Promise<ClientReply> {
  const { session, close } = await openPlantSession(request.port);
  try {
    if (request.kind === "browse") {
      return { kind: "browsed", result: await browseAll(session, request.robots) };
    }
    return { kind: "written", sentAtMs: await writeSlots(session, request.robots) };
  } finally {
    await close();
  }
}

process.on("message", (request: ClientRequest) => {
  serve(request).then(
    (reply) => process.send?.(reply),
    (error: unknown) => process.send?.({ kind: "failed", message: String(error) } satisfies ClientReply),
  );
});
