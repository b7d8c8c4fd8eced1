import { spawn } from "node:child_process";
import { once } from "node:events";
import { existsSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { WebSocket } from "ws";
import { nodeBinary, shippedVersion } from "../../packaging/node-binary.mjs";
import { type Chronicle, createChronicle } from "../support/chronicle.ts";
import { freePorts } from "../support/free-ports.ts";

/** A node of a flow, as Node-RED exports it. */
export interface FlowNode {
  readonly id: string;
  readonly type: string;
  readonly name?: string;
  readonly func?: string;
}

/** What the debug panel shows. */
export interface Shown {
  /** The name of the debug node. */
  readonly name: string;
  readonly payload: unknown;
}

/** Node-RED as npm has it, without an editor, in a process of its own. */
export interface NodeRed {
  readonly shown: Chronicle<Shown>;
  /** Presses the button of an *inject* node. */
  press(name: string): Promise<void>;
  close(): Promise<void>;
}

const root = join(import.meta.dirname, "../..");
const installed = join(root, "foreign", "node_modules");
const cache = join(root, "node_modules", ".cache", "packages");

/** The versions that are installed, as the table of docs/scada.md has them. */
export function nodeRedVersions(): string {
  if (!existsSync(installed)) throw new Error("Node-RED is not installed: run `npm run foreign`");
  const versionOf = (name: string): string =>
    JSON.parse(readFileSync(join(installed, name, "package.json"), "utf8")).version;
  const nodes = `node-red-contrib-opcua ${versionOf("node-red-contrib-opcua")}`;
  return `${versionOf("node-red")}, ${nodes} (node-opcua ${versionOf("node-opcua")})`;
}

/** A flow of the examples, with other ports in place of the demo's. */
export function exampleFlow(name: string, ports: Readonly<Record<string, string>>): readonly FlowNode[] {
  const text = readFileSync(join(root, "docs", "examples", name), "utf8");
  return JSON.parse(text.replace(/\b(?:1883|4840)\b/g, (port) => ports[port] ?? port));
}

/** Starts Node-RED with flows. Resolves when they run. */
export async function startNodeRed(flows: readonly FlowNode[]): Promise<NodeRed> {
  const folder = mkdtempSync(join(tmpdir(), "fleetgate-node-red-"));
  const port = await freePorts(1);
  const settings = { uiHost: "127.0.0.1", uiPort: port, flowFile: "flows.json", credentialSecret: false };
  writeFileSync(join(folder, "flows.json"), JSON.stringify(flows));
  writeFileSync(join(folder, "settings.js"), `module.exports = ${JSON.stringify(settings)}`);
  const program = join(installed, "node-red", "red.js");
  const child = spawn(nodeOfThePackage(), [program, "--userDir", folder], {
    // The nodes for OPC UA keep their certificates in the user's home.
    env: { PATH: process.env.PATH, HOME: folder },
    stdio: ["ignore", "pipe", "pipe"],
  });
  const printed = createChronicle<string>((text) => text);
  for (const output of [child.stdout, child.stderr])
    output.on("data", (chunk: Buffer) => printed.add(chunk.toString()));
  const close = async () => {
    if (child.exitCode === null && child.signalCode === null) {
      child.kill("SIGKILL");
      await once(child, "exit");
    }
    rmSync(folder, { recursive: true, force: true });
  };
  try {
    await printed.first("started flows", (text) => text.includes("Started flows"));
    const { shown, socket } = await followDebugPanel(`ws://127.0.0.1:${port}/comms`);
    return {
      shown,
      async press(name) {
        const button = flows.find((node) => node.type === "inject" && node.name === name);
        const answer = await fetch(`http://127.0.0.1:${port}/inject/${button?.id}`, { method: "POST" });
        if (!answer.ok) throw new Error(`Node-RED has no button ${name}: ${answer.status}`);
      },
      async close() {
        socket.terminate();
        await close();
      },
    };
  } catch (error) {
    await close();
    throw error;
  }
}

interface DebugMessage {
  readonly topic: string;
  readonly data: {
    readonly id: string;
    readonly name?: string;
    readonly format?: string;
    readonly msg: string;
  };
}

/** A warning of a node is a text, the payload of a debug node is what it was. */
function payloadOf({ format = "", msg }: DebugMessage["data"]): unknown {
  return /^(?:Object|array|number|boolean)/.test(format) ? JSON.parse(msg) : msg;
}

/** The Node.js that the package ships: Node-RED needs a newer one than the gateway. */
function nodeOfThePackage(): string {
  const arch = { x64: "amd64", arm64: "arm64" } as const;
  const folder = nodeBinary(shippedVersion, arch[process.arch as keyof typeof arch], cache);
  return join(folder, "bin", "node");
}

async function followDebugPanel(
  url: string,
): Promise<{ readonly shown: Chronicle<Shown>; readonly socket: WebSocket }> {
  const shown = createChronicle<Shown>((entry) => JSON.stringify(entry));
  const socket = new WebSocket(url);
  socket.on("message", (text) => {
    const messages: readonly DebugMessage[] = [JSON.parse(String(text))].flat();
    for (const { topic, data } of messages)
      if (topic === "debug") shown.add({ name: data.name ?? data.id, payload: payloadOf(data) });
  });
  await once(socket, "open");
  socket.send(JSON.stringify({ subscribe: "debug" }));
  return { shown, socket };
}
