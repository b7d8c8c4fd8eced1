import {
  ActivateSessionRequest,
  AttributeIds,
  type BaseNode,
  type BrowseResult,
  type DataValue,
  type ISessionContext,
  type LocalizedText,
  type NodeId,
  type OPCUAServer,
  type ReadRequest,
  type UAVariable,
  type Variant,
} from "node-opcua";
import { lower } from "./lower.ts";

interface LowerNamespace {
  findNode2(nodeId: NodeId): BaseNode | null;
}

/** The languages of the server; the first is for sessions without a wish. */
export const locales = ["en", "de"] as const;

/** Sessions that asked for German. */
const german = new WeakSet<object>();

/**
 * Answers German sessions in German: node-opcua 2.182 has one text for each node, and ignores the `localeIds`
 * of sessions. For an initialised server that does not listen yet.
 *
 * @param germanOf the German for a text of ours; null for others
 */
export function answerInLocales(
  server: OPCUAServer,
  namespaceIndex: number,
  germanOf: (text: unknown) => LocalizedText | null,
): void {
  const { engine } = server;
  const namespace = engine.addressSpace?.getNamespace(namespaceIndex);
  if (namespace === undefined) throw new Error("the OPC UA server has no address space");
  // The method as it is now: later a look-up builds the nodes of a robot, and a browse that only names the
  // robot must not do so.
  const find = lower<LowerNamespace>(namespace, "findNode2").findNode2.bind(namespace);
  server.on("request", (request) => {
    if (!(request instanceof ActivateSessionRequest)) return;
    const session = engine.getSession(request.requestHeader.authenticationToken);
    const wished = request.localeIds ?? [];
    // Without a wish the session keeps its language (OPC UA part 4, 5.6.3).
    if (session === null || wished.length === 0) return;
    if (wantsGerman(wished)) german.add(session);
    else german.delete(session);
  });

  const read = engine.read.bind(engine);
  engine.read = async (context: ISessionContext, request: ReadRequest): Promise<DataValue[]> => {
    const answers = await read(context, request);
    if (isGerman(context)) {
      for (const [index, { attributeId }] of (request.nodesToRead ?? []).entries()) {
        if (!isText(attributeId)) continue;
        const answer = answers[index];
        const text = germanOf(answer?.value.value);
        if (answer !== undefined && text !== null) answer.value.value = text;
      }
    }
    return answers;
  };

  const browse = engine.browse.bind(engine);
  engine.browse = async (context, nodesToBrowse): Promise<BrowseResult[]> => {
    const answers = await browse(context, nodesToBrowse);
    if (isGerman(context)) {
      for (const reference of answers.flatMap(({ references }) => references ?? [])) {
        if (reference.nodeId.namespace !== namespaceIndex) continue;
        const name = germanOf(find(reference.nodeId)?.displayName[0]);
        // Null: the client has not asked for it.
        if (name !== null && reference.displayName?.text != null) reference.displayName = name;
      }
    }
    return answers;
  };
}

/** Gives a variable another value for German sessions; it never changes. */
export function answerInGerman(variable: UAVariable, value: Variant): void {
  const readValue = variable.readValue.bind(variable);
  variable.readValue = (context, range, ...args) => {
    const answer = readValue(context, range, ...args);
    // Only programs ask for a part of it, and they do not read texts.
    if (
      context != null &&
      (range == null || range.isEmpty()) &&
      answer.statusCode.isGood() &&
      isGerman(context)
    ) {
      answer.value = value;
    }
    return answer;
  };
}

function isGerman({ session }: ISessionContext): boolean {
  return session !== undefined && session !== null && german.has(session);
}

/** The first of the client's languages that the server has counts: `de-AT` is German. */
function wantsGerman(wished: readonly (string | null)[]): boolean {
  const known = wished
    .map((each) => each?.split("-")[0]?.toLowerCase())
    .find((language) => locales.some((each) => each === language));
  return known === "de";
}

function isText(attributeId: AttributeIds): boolean {
  return (
    attributeId === AttributeIds.DisplayName ||
    attributeId === AttributeIds.Description ||
    attributeId === AttributeIds.InverseName
  );
}
