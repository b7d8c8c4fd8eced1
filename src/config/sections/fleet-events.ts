import { z } from "zod";
import { type EventSource, webhookDirectory } from "../../fleet/options.ts";
import { file, listen, url } from "../fields.ts";
import { fileAt, type NamedFiles } from "../named-files.ts";

/** Keys that webhooks need, and streams do not use. */
const webhookKeys = ["listen", "publicUrl", "certificate", "key"] as const;

/** `fleet.events:` how missions and batteries are received. */
export const eventsSection = z
  .strictObject({
    kind: z
      .enum(["streams", "webhook"])
      .default("streams")
      .describe("How missions and batteries come. Conveyors and snapshots are streams always."),
    listen: listen(8443).optional(),
    publicUrl: url(
      ["https:"],
      "The https URL under which the service reaches this listener. A service takes public addresses only.",
    ).optional(),
    certificate: file(
      "certificate",
      "File of the certificate for the host of publicUrl, with its chain (PEM).",
    ).optional(),
    key: file("privateKey", "File of the key of certificate (PEM).").optional(),
    onShutdown: z
      .enum(["keep", "delete"])
      .default("keep")
      .describe(
        "Whether the subscriptions outlive the gateway. A service disables those that it cannot reach.",
      ),
  })
  .superRefine((section, context) => {
    for (const key of webhookKeys) {
      const isThere = section[key] !== undefined;
      if (isThere === (section.kind === "webhook")) continue;
      const message = isThere ? "has a meaning with kind: webhook only" : "is needed with kind: webhook";
      context.addIssue({ code: "custom", path: [key], message });
    }
  })
  .prefault({})
  .describe("How missions and batteries come: by streams, or by webhooks that this gateway receives.");

/** The event source of the fleet session, from the section and its files. */
export function eventSource(
  section: z.output<typeof eventsSection>,
  files: NamedFiles,
  directory: string,
): EventSource {
  const { kind, listen: address, publicUrl, onShutdown } = section;
  if (kind === "streams" || address === undefined || publicUrl === undefined) return { kind: "streams" };
  const certificate = fileAt(files, "fleet", "events", "certificate")?.text ?? "";
  const key = fileAt(files, "fleet", "events", "key")?.text ?? "";
  return {
    kind: "webhook",
    webhook: {
      listen: address,
      publicUrl,
      certificate,
      key,
      onShutdown,
      directory: webhookDirectory(directory),
    },
  };
}
