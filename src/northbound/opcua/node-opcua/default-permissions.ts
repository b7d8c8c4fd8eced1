import { AccessRestrictionsFlag, type BaseNode, type INamespace, SessionContext } from "node-opcua";

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
      throw new Error("node-opcua judges permissions elsewhere now");
    }
  }
  return prototype as Asked;
}
