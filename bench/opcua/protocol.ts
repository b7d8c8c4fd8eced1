/** What the nodes of all robots cost, as their process tells. */
export interface NodeCosts {
  /** From the first news of the robots until each has its nodes. */
  readonly wallSeconds: number;
  readonly cpuSeconds: number;
  /** That the heap has grown by, after a collection. */
  readonly heapBytes: number;
  /** Of one cart with two conveyors. */
  readonly cartNodes: number;
  /** Of one robot without conveyors. */
  readonly otherNodes: number;
  readonly nodes: number;
}
