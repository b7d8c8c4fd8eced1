import { readFile } from "node:fs/promises";
import { isIP } from "node:net";
import { join, resolve } from "node:path";
import type { KeyedCertificate } from "../../platform/certificate-authority.ts";
import {
  type CertificateOrder,
  certificateLife,
  createAuthority,
  issueCertificate,
} from "../../platform/certificate-authority.ts";
import { makeFolder } from "../../platform/folder.ts";
import { urlHost } from "../../platform/url-host.ts";
import { Refused } from "../exit.ts";
import { type Access, isThere, publicAccess, writeNewFile } from "../new-file.ts";

/** A machine of the cluster, by the name that the others know. */
export interface Machine {
  readonly name: string;
  readonly address: string;
}

const BOXES = 2;
const MACHINES = 3;
/** The user of etcd that every member is for its peers, and that has no rights. */
const PEER = "etcd";
const privateAccess: Access = { mode: 0o600, group: null };

/** @throws Refused */
export function machinesOf(text: string): readonly Machine[] {
  const machines = text.split(",").map((part) => {
    const [name = "", address = ""] = part.trim().split("=", 2);
    return { name, address };
  });
  const problems = machines.flatMap(({ name, address }) => [
    ...(/^[A-Za-z0-9][A-Za-z0-9-]{0,62}$/.test(name) ? [] : [`"${name}" is no name of a machine`]),
    ...(isIP(address) === 0 ? [`"${address}" is no address of ${name}: write ${name}=10.0.0.1`] : []),
  ]);
  const isTwice = (key: keyof Machine) => new Set(machines.map((each) => each[key])).size < machines.length;
  if (machines.length !== MACHINES)
    problems.push("--machines needs three: the two boxes, and then the machine that only votes");
  else if (isTwice("name") || isTwice("address")) problems.push("--machines has a name or an address twice");
  if (problems.length > 0) throw new Refused(problems);
  return machines;
}

export interface ClusterFiles {
  readonly written: readonly string[];
  readonly kept: readonly string[];
}

/**
 * Makes what the machines of a cluster need, a folder for each, below `out`. What is there is kept: so the
 * same CA signs the certificates of a further cluster, and those that were removed.
 *
 * @throws Refused
 */
export async function writeClusterFiles(
  cluster: string,
  machines: readonly Machine[],
  out: string,
  nowMs: number,
): Promise<ClusterFiles> {
  const folder = resolve(out);
  const written: string[] = [];
  const kept: string[] = [];

  async function put(name: string, text: string, access: Access): Promise<void> {
    const path = join(folder, name);
    const before = await readFile(path, "utf8").catch(() => null);
    if (before !== null && before !== text)
      throw new Refused([
        `${path} is of other machines, another cluster or another version: move it elsewhere`,
      ]);
    if (before === null) await writeNewFile(path, text, access);
    (before === null ? written : kept).push(path);
  }

  async function pair(name: string, make: () => Promise<KeyedCertificate>): Promise<KeyedCertificate> {
    const [certificate, key] = [join(folder, `${name}.pem`), join(folder, `${name}.key`)];
    const [hasCertificate, hasKey] = [await isThere(certificate), await isThere(key)];
    if (hasCertificate !== hasKey)
      throw new Refused([`${hasKey ? key : certificate} is there alone: remove it, and both are made anew`]);
    if (hasKey) {
      kept.push(certificate, key);
      return { certificate: await readFile(certificate, "utf8"), key: await readFile(key, "utf8") };
    }
    const made = await make();
    await put(`${name}.key`, made.key, privateAccess);
    await put(`${name}.pem`, made.certificate, publicAccess);
    return made;
  }

  for (const { name } of machines) await makeFolder(join(folder, name));
  const authority = await pair("ca", () => createAuthority("etcd CA", certificateLife.authorityMs, nowMs));
  const issue = (name: string, order: Omit<CertificateOrder, "lifeMs">) =>
    pair(name, () => issueCertificate(authority, { ...order, lifeMs: certificateLife.leafMs }, nowMs));
  await issue("root", { commonName: "root", names: [], uses: ["client"] });
  await put("hosts", `${machines.map(({ name, address }) => `${address} ${name}\n`).join("")}`, publicAccess);
  for (const [index, machine] of machines.entries()) {
    const { name, address } = machine;
    await put(`${name}/ca.pem`, authority.certificate, publicAccess);
    const both = ["server", "client"] as const;
    await issue(`${name}/etcd`, { commonName: PEER, names: [name, address], uses: both });
    await put(`${name}/default`, settingsOf(machine, machines), publicAccess);
    if (index >= BOXES) continue;
    await issue(`${name}/${cluster}`, { commonName: cluster, names: [], uses: ["client"] });
    await put(`${name}/${cluster}.yaml`, sectionOf(cluster, machine, machines), publicAccess);
  }
  return { written, kept };
}

/** `/etc/default/etcd`, which the unit of Debian reads. */
function settingsOf({ name, address }: Machine, machines: readonly Machine[]): string {
  const [client, peer] = [2379, 2380].map((port) => `https://${urlHost(address)}:${port}`);
  const values = {
    NAME: name,
    DATA_DIR: "/var/lib/etcd/fleetgate",
    INITIAL_CLUSTER: machines.map((each) => `${each.name}=https://${each.name}:2380`).join(","),
    INITIAL_CLUSTER_STATE: "new",
    INITIAL_CLUSTER_TOKEN: "fleetgate",
    INITIAL_ADVERTISE_PEER_URLS: `https://${name}:2380`,
    ADVERTISE_CLIENT_URLS: `https://${name}:2379`,
    LISTEN_PEER_URLS: peer,
    LISTEN_CLIENT_URLS: client,
    CERT_FILE: "/etc/etcd/etcd.pem",
    KEY_FILE: "/etc/etcd/etcd.key",
    TRUSTED_CA_FILE: "/etc/etcd/ca.pem",
    CLIENT_CERT_AUTH: true,
    PEER_CERT_FILE: "/etc/etcd/etcd.pem",
    PEER_KEY_FILE: "/etc/etcd/etcd.key",
    PEER_TRUSTED_CA_FILE: "/etc/etcd/ca.pem",
    PEER_CLIENT_CERT_AUTH: true,
    PEER_CERT_ALLOWED_CN: PEER,
    ENABLE_GRPC_GATEWAY: false,
  };
  return Object.entries(values)
    .map(([key, value]) => `ETCD_${key}=${value}\n`)
    .join("");
}

/** The section `cluster` of a box. The names differ from those of another cluster on the same boxes. */
function sectionOf(cluster: string, { name }: Machine, machines: readonly Machine[]): string {
  const endpoints = machines.map((each) => `"${each.name}:2379"`).join(", ");
  const members = machines
    .slice(0, BOXES)
    .map((each) => `    ${each.name}: { opcuaUri: "urn:${each.name}:fleetgate:${cluster}" }`);
  return `cluster:
  name: ${cluster}
  member: ${name}
  members:
${members.join("\n")}
  etcd:
    endpoints: [${endpoints}]
    ca: etcd-ca.pem
    certificate: ${cluster}.pem
    key: secrets/${cluster}.key
  leaseSeconds: 5
`;
}
