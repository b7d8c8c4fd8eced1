import {
  type AddressSpace,
  type BaseNode,
  type ISessionContext,
  ObjectTypeIds,
  sameNodeId,
  type UAObjectType,
} from "node-opcua";
import { cached, standardId } from "./lower.ts";

/** Whether the user of a session may receive audit events. */
export type MayReadAudit = (context: ISessionContext) => boolean;

/** Of address spaces. Nobody receives the audit events of one without an entry. */
const readers = new WeakMap<object, MayReadAudit>();
const auditTypes = new WeakMap<BaseNode, boolean>();
const AUDIT_EVENT_TYPE = standardId(ObjectTypeIds.AuditEventType);

/** Limits who receives the audit events of an address space: those of node-opcua itself, too. */
export function limitAuditEvents(addressSpace: AddressSpace, mayRead: MayReadAudit): void {
  readers.set(addressSpace, mayRead);
}

/**
 * Whether a session may receive events of this type.
 *
 * @param context null: the session of the subscription is gone
 */
export function mayReceive(context: ISessionContext | null, type: BaseNode): boolean {
  if (!cached(auditTypes, type, () => isAuditType(type))) return true;
  return context !== null && readers.get(type.addressSpace)?.(context) === true;
}

function isAuditType(type: BaseNode): boolean {
  for (let each: UAObjectType | null = type as UAObjectType; each !== null; each = each.subtypeOfObj)
    if (sameNodeId(each.nodeId, AUDIT_EVENT_TYPE)) return true;
  return false;
}
