import {
  AccessRestrictionsFlag,
  type AddressSpace,
  type BaseNode,
  BrowseDirection,
  type CallMethodRequest,
  type CallMethodResultOptions,
  type INamespace,
  type ISessionContext,
  NodeClass,
  type NodeId,
  type OPCUAServer,
  SessionContext,
  StatusCodes,
  sameNodeId,
  type UAMethod,
  type UAObject,
  type UAObjectType,
} from "node-opcua";
import type { CommandRights } from "../../../contracts/commander.ts";
import type { Catalogue } from "../../../contracts/operation.ts";
import { type Role, roles } from "../../../domain/command.ts";
import type { NoteCall } from "../audit/audited-requests.ts";
import { typedMethods } from "../commands/typed-methods.ts";
import type { Account } from "../security.ts";
import { sourceOf } from "../security.ts";
import type { TimeSlices } from "./time-slices.ts";

/** Answers a call; null: node-opcua does. */
export type AnswerCall = (
  context: ISessionContext,
  request: CallMethodRequest,
) => CallMethodResultOptions | Promise<CallMethodResultOptions> | null;

/**
 * Refuses a method call on an object that does not have the method (OPC UA part 4, 5.11.2), and a call of a
 * method that this server does not implement (BadNotExecutable). node-opcua finds a method by its own NodeId,
 * whatever object the client names, and checks its arguments first. For an initialised server that does not
 * listen yet.
 *
 * @param answerItself answers calls on objects without a node
 * @param note is told what became of each call
 */
export function refuseForeignMethods(
  server: OPCUAServer,
  addressSpace: AddressSpace,
  slices: Pick<TimeSlices, "begin">,
  answerItself: AnswerCall,
  note: NoteCall,
): void {
  const { engine } = server;
  const call = engine.call.bind(engine);
  engine.call = async (context, methodsToCall) => {
    const results: CallMethodResultOptions[] = [];
    const pause = slices.begin();
    for (const request of methodsToCall) {
      await pause();
      const result = await answerOne(context, request);
      note(context, request, result.statusCode ?? StatusCodes.Good);
      results.push(result);
    }
    return results;
  };

  async function answerOne(
    context: ISessionContext,
    request: CallMethodRequest,
  ): Promise<CallMethodResultOptions> {
    const own = await answerItself(context, request);
    if (own !== null) return own;
    if (isForeign(addressSpace, request)) return { statusCode: StatusCodes.BadMethodInvalid };
    if (isNotThere(addressSpace, request)) return { statusCode: StatusCodes.BadNotExecutable };
    const [result] = await call(context, [request]);
    return result === undefined ? { statusCode: StatusCodes.BadInternalError } : named(result);
  }
}

/** A method that OPC UA itself declares, and that this server does not implement. */
function isNotThere(addressSpace: AddressSpace, { methodId }: CallMethodRequest): boolean {
  const method = addressSpace.findMethod(methodId);
  return method !== null && !method.isBound();
}

/** The argument has its own code, and the call BadInvalidArgument (OPC UA part 4, 5.11.2). */
function named(result: CallMethodResultOptions): CallMethodResultOptions {
  const isOfArgument = result.inputArgumentResults?.includes(StatusCodes.BadTypeMismatch) === true;
  const isMismatch = isOfArgument && result.statusCode === StatusCodes.BadTypeMismatch;
  return isMismatch ? { ...result, statusCode: StatusCodes.BadInvalidArgument } : result;
}

/** node-opcua refuses unknown nodes, and nodes that are no objects. */
function isForeign(addressSpace: AddressSpace, { objectId, methodId }: CallMethodRequest): boolean {
  const object = addressSpace.findNode(objectId);
  const method = addressSpace.findMethod(methodId);
  return object !== null && isCallable(object) && method !== null && !hasMethod(object, method);
}

function isCallable(node: BaseNode): node is UAObject | UAObjectType {
  return node.nodeClass === NodeClass.Object || node.nodeClass === NodeClass.ObjectType;
}

/**
 * An object has the methods to which it refers, and may be called by those that its type declares. Our types
 * declare methods of robots, which are not for the type itself.
 */
function hasMethod(object: UAObject | UAObjectType, method: UAMethod): boolean {
  if (object.nodeClass === NodeClass.ObjectType && object.nodeId.namespace !== 0) return false;
  if (refersTo(object, method.nodeId)) return true;
  for (let type = typeOf(object); type !== null; type = type.subtypeOfObj) {
    if (refersTo(type, method.nodeId)) return true;
  }
  return false;
}

function refersTo(object: UAObject | UAObjectType, methodId: NodeId): boolean {
  return object
    .findReferencesEx("HasComponent", BrowseDirection.Forward)
    .some((reference) => sameNodeId(reference.nodeId, methodId));
}

function typeOf(object: UAObject | UAObjectType): UAObjectType | null {
  return "typeDefinitionObj" in object ? object.typeDefinitionObj : object;
}

/**
 * Sets UserExecutable of each method by whether the user may call it, for some robot at least; QueryOutcome
 * is for every user.
 */
export function showWhoMayCall(
  addressSpace: AddressSpace,
  namespaceIndex: number,
  catalogue: Catalogue,
  accountOf: (context: ISessionContext) => Account | null,
  rights: Pick<CommandRights, "refusedOperation">,
): void {
  const ofOperations = [...catalogue.values()].map(
    ({ name, role }) => [`Operations.${name}`, name, role] as const,
  );
  const ofRobots = typedMethods.map(({ name, operation }) => {
    const role: Role = catalogue.get(operation)?.role ?? "operator";
    return [`RobotMethods.${name}`, operation, role] as const;
  });
  for (const [path, name, role] of [...ofOperations, ...ofRobots]) {
    const method = addressSpace.findNode(`ns=${namespaceIndex};s=${path}`);
    if (method === null) throw new Error(`there is no method ${path}`);
    const mayCall = (context: ISessionContext | null) => {
      const account = context === null ? null : accountOf(context);
      if (account === null || roles.indexOf(account.role) < roles.indexOf(role)) return false;
      return rights.refusedOperation(sourceOf(account), name, role) === null;
    };
    Reflect.set(method, "getUserExecutableFlag", mayCall);
  }
}

/** The values that node-opcua 2.182 reads for each node that a client browses, reads or writes. */
interface Asked {
  getApplicableRolePermissions(node: BaseNode): unknown;
  getAccessRestrictions(node: BaseNode): AccessRestrictionsFlag;
}

/** Namespaces whose metadata has no default permissions and no default restrictions. */
const withoutDefaults = new WeakSet<INamespace>();
let isPatched = false;

/**
 * Declares that the metadata of a namespace has no default permissions: only the nodes themselves have
 * permissions. Otherwise node-opcua looks the metadata up by name for every node of every answer, which takes
 * more than half the time of a browse.
 */
export function declareNoDefaultPermissions(namespace: INamespace): void {
  withoutDefaults.add(namespace);
  if (isPatched) return;
  isPatched = true;
  const { getApplicableRolePermissions, getAccessRestrictions } = partsOf(SessionContext.prototype);
  const asked: Asked = {
    getApplicableRolePermissions(node) {
      if (!node.rolePermissions && withoutDefaults.has(node.namespace)) return null;
      return getApplicableRolePermissions.call(this, node);
    },
    getAccessRestrictions(node) {
      const isPlain = node.accessRestrictions === undefined && withoutDefaults.has(node.namespace);
      return isPlain ? AccessRestrictionsFlag.None : getAccessRestrictions.call(this, node);
    },
  };
  Object.assign(SessionContext.prototype, asked);
}

function partsOf(prototype: object): Asked {
  for (const name of ["getApplicableRolePermissions", "getAccessRestrictions"] satisfies Array<keyof Asked>) {
    if (typeof Reflect.get(prototype, name) !== "function") {
      throw new Error("node-opcua checks permissions elsewhere now");
    }
  }
  return prototype as Asked;
}
