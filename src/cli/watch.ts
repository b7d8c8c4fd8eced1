import { Command } from "commander";
import { fail } from "./exit.ts";
import { stopSignal } from "./stop-signal.ts";
import { endWithReader } from "./unread-output.ts";

/** `fleetgate watch`: follows OPC UA tags as a PLC would see them. For a first look; open servers only. */
export function watchCommand(): Command {
  return new Command("watch")
    .description("follow OPC UA tags: every tag under a folder, a line for each change")
    .argument("<url>", "opc.tcp://host:port of a server that is open to anonymous clients")
    .argument("[folder]", "a tag or a folder of tags, as Robots.cart-01.Mission", "Robots")
    .action(async (url: string, folder: string) => {
      endWithReader();
      try {
        const { watchTags } = await import("./tag-watch.ts");
        await watchTags(url, folder, stopSignal());
      } catch (error) {
        fail(error, () => "");
      }
    });
}
