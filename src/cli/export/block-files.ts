import { builtAt, version } from "../../version.ts";
import { FG_COMMAND } from "./fg-command.ts";
import { FG_LOAD_STATION, stationTagsOf } from "./fg-load-station.ts";
import { readFunctionBlock } from "./function-block.ts";
import { plcOpenXml } from "./plcopen.ts";
import { sclSource } from "./scl.ts";

/** The files of the function blocks by name. The same program writes the same bytes. */
export function blockFiles(): Readonly<Record<string, string>> {
  const header = { product: "Fleetgate", version, at: builtAt().toISOString() };
  return Object.fromEntries(
    [FG_COMMAND, FG_LOAD_STATION].flatMap((source) => {
      const block = readFunctionBlock(source);
      const structure = block.name === "FG_LoadStation" ? stationTagsOf(block) : null;
      return [
        [`${block.name}.st`, source],
        [`${block.name}.xml`, plcOpenXml([block], header)],
        [`${block.name}.scl`, sclSource(block, structure)],
      ];
    }),
  );
}
