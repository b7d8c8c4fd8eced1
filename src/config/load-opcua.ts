import type { Catalogue } from "../contracts/operation.ts";
import type { OpcUaOptions } from "../northbound/opcua/options.ts";
import type { Now } from "../platform/live.ts";
import { crossChecks } from "./cross-checks.ts";
import type { ConfigProblem } from "./finding.ts";
import { problemAt, problemsOf } from "./issues.ts";
import type { NamedFiles } from "./named-files.ts";
import { inOrder, readConfigDocument, soundSections, unsoundSections } from "./read-document.ts";
import { configSchema } from "./schema.ts";
import { ownOpcUaUri } from "./sections/cluster.ts";
import { opcUaOptions } from "./sections/opcua.ts";
import { stationNodes } from "./sections/stations.ts";

/** The configuration of OPC UA, or every problem of the file. */
type OpcUaResult =
  | {
      readonly ok: true;
      /** Null: the file has no such section. */
      readonly opcua: Now<
        Pick<OpcUaOptions, "robots" | "stations" | "missionSlots" | "isClustered" | "users" | "limits">
      > | null;
    }
  | { readonly ok: false; readonly problems: readonly ConfigProblem[] };

const noFiles: NamedFiles = {
  byKey: new Map(),
  problems: [],
  warnings: [],
  outdated: [],
  unusable: [],
  certificates: [],
};

/**
 * Reads only the configuration file and no files that it names, so no secrets. Users have empty secrets.
 *
 * @param catalogue the operations that rights may name
 */
export async function loadOpcUa(path: string, catalogue: Catalogue): Promise<OpcUaResult> {
  const read = await readConfigDocument(path);
  if (!read.ok) return read;
  const { document } = read;
  const parsed = configSchema.safeParse(document.value);
  const sections = parsed.success ? parsed.data : soundSections(document);
  const findings = crossChecks(sections, catalogue, unsoundSections(document));
  const problems = [
    ...problemsOf(parsed.error?.issues ?? [], configSchema, document),
    ...findings
      .filter(({ severity }) => severity === "problem")
      .map((finding) => problemAt(document, finding.path, finding.message)),
  ];
  if (!parsed.success || problems.length > 0) return { ok: false, problems: inOrder(problems) };
  const { gateway, opcua, fleet, stations, cluster } = parsed.data;
  if (opcua === undefined) return { ok: true, opcua: null };
  const place = { id: gateway.id, dataDir: "", memberUri: ownOpcUaUri(cluster) };
  return { ok: true, opcua: opcUaOptions(opcua, place, fleet, stationNodes(stations), noFiles) };
}
