/** A task chain as QueryTaskChain shows it; `info` is published as it stands, in snake_case. */
export interface TaskChain {
  readonly chainId: number;
  readonly amrId: number;
  readonly taskSeq: string;
  readonly status: string;
  readonly finished: boolean;
  readonly info: Readonly<Record<string, unknown>>;
}
