/** Operations that change nothing, anywhere (design, Commands). */
export const readOperations: ReadonlySet<string> = new Set([
  "GetConveyorIndex",
  "ListWebhooks",
  "QueryTaskChain",
  "GetOnlineRobots",
  "GetMap",
]);
