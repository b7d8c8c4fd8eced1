import { dirname, join, resolve } from "node:path";
import { secretAccess } from "../new-file.ts";
import { configurationText, fileNamesOf, type Ports } from "./configuration-text.ts";
import type { Interview } from "./interview.ts";
import { outerHosts } from "./questions.ts";
import { readSource } from "./source-file.ts";
import type { Plan, PlannedFile } from "./written-files.ts";

/** Makes the configuration and its files from the answers. */
export async function planOf(
  path: string,
  dataDir: string,
  { given, mqttPassword, opcuaPassword }: Interview,
  ports: Ports,
): Promise<Plan> {
  const fileNames = fileNamesOf(path);
  const files: PlannedFile[] = [];
  const add = (name: string, text: string, isSecret: boolean) =>
    files.push({ path: join(dirname(resolve(path)), name), text, isSecret });
  const copy = async (name: string, source: string | undefined, isSecret: boolean) => {
    if (source) add(name, await readSource(source), isSecret);
  };
  await copy(fileNames.apiKey, given.apiKey, true);
  await copy(fileNames.fleetCa, given.fleetCa, false);
  await copy(fileNames.mqttCa, given.mqttCa, false);
  const hosts = outerHosts(given.host ?? "");
  if (given.mqtt === "embedded" && hosts.length > 0) {
    // Loaded here: the other subcommands need no certificates.
    const { createSelfSigned } = await import("../../platform/keyed-certificate.ts");
    const pair = await createSelfSigned([...hosts, "localhost", "127.0.0.1"], Date.now());
    add(fileNames.brokerCertificate, pair.certificate, false);
    add(fileNames.brokerKey, pair.key, true);
  }
  if (mqttPassword !== null) {
    const user = given.mqttUser ?? "";
    const name = given.mqtt === "embedded" ? fileNames.mqttPassword(user) : fileNames.brokerPassword;
    add(name, `${mqttPassword.kept}\n`, true);
  }
  if (opcuaPassword !== null)
    add(fileNames.opcuaPassword(given.opcuaUser ?? ""), `${opcuaPassword.kept}\n`, true);
  return {
    path: resolve(path),
    text: configurationText(resolve(path), dataDir, given, ports),
    files,
    secretAccess: secretAccess(),
  };
}
