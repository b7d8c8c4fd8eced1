import {
  AttributeIds,
  BrowseDirection,
  DataType,
  type DataValue,
  LocalizedText,
  NodeId,
  QualifiedName,
  type ReferenceDescription,
  type Variant,
  VariantArrayType,
} from "node-opcua";
import { afterAll, beforeAll, expect, it } from "vitest";
import { type Caller, openSession, type RunningServer, startServer } from "./opcua-harness.ts";

const ROBOT = "ns=2;s=Robots.AMR01";

/** All attributes that there are (OPC UA part 6, A.1). */
const attributeIds = Array.from({ length: 27 }, (_unused, index) => index + 1);

let running: RunningServer;
let caller: Caller;

beforeAll(async () => {
  running = await startServer({
    robots: [{ robotId: "r1", alias: "AMR01", number: 1, family: "cart", conveyorIndexes: [3] }],
    users: [
      {
        name: "line 1",
        secret: { kind: "plain", text: "secret" },
        role: "operator",
        number: 1,
      },
    ],
  });
  caller = await openSession(running.url);
});
afterAll(async () => {
  await caller.close();
  await running.stop();
});

it("a robot's nodes, references, data types and attributes are those that programs know", async () => {
  const lines: string[] = [];
  await describeNode(ROBOT, lines);
  await expect(`${lines.join("\n")}\n`).toMatchFileSnapshot("robot-nodes.txt");
});

/** Appends the node, its attributes and its references, a line each, then its children in their order. */
async function describeNode(nodeId: string, lines: string[]): Promise<void> {
  const references = await referencesOf(nodeId);
  const values = await caller.session.read(attributeIds.map((attributeId) => ({ nodeId, attributeId })));
  const attributes = attributeIds.flatMap((attributeId, index) => {
    const text = attributeText(attributeId, values[index]);
    return text === null ? [] : [`${AttributeIds[attributeId]} ${text}`];
  });
  const targets = references.map(({ referenceTypeId, isForward, nodeId: target }) => {
    return `${referenceTypeId.value} ${isForward ? "->" : "<-"} ${short(target.toString())}`;
  });
  lines.push(short(nodeId), `  ${attributes.join(", ")}`, `  ${targets.join(", ")}`);
  for (const { isForward, nodeId: child } of references) {
    // A method belongs to all robots: it is under Operations.
    if (isForward && child.toString().startsWith(ROBOT)) await describeNode(child.toString(), lines);
  }
}

async function referencesOf(nodeId: string): Promise<readonly ReferenceDescription[]> {
  const { references } = await caller.session.browse({
    nodeId,
    browseDirection: BrowseDirection.Both,
    resultMask: 63,
  });
  return references ?? [];
}

/** Null for an attribute that the node lacks. What its value is, other tests hold. */
function attributeText(attributeId: AttributeIds, data: DataValue | undefined): string | null {
  if (data === undefined || attributeId === AttributeIds.NodeId) return null;
  const { statusCode, value } = data;
  if (attributeId === AttributeIds.Value) return valueText(value, statusCode.name);
  if (statusCode.isNotGood()) return null;
  if (value.value instanceof LocalizedText) return JSON.stringify([value.value.locale, value.value.text]);
  if (value.value instanceof QualifiedName || value.value instanceof NodeId) return value.value.toString();
  return JSON.stringify(value.value);
}

function valueText({ dataType, arrayType, value }: Variant, status: string): string {
  const names = dataType === DataType.ExtensionObject ? ` ${JSON.stringify(value)}` : "";
  return `${status} ${DataType[dataType]} ${VariantArrayType[arrayType]}${names}`;
}

function short(nodeId: string): string {
  return nodeId.replace(ROBOT, "~");
}
