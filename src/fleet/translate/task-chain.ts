import type { TaskChain } from "../../domain/task-chain.ts";
import { isJsonObject, type Json } from "../../platform/json.ts";
import { QueryTaskChainInfoSchema } from "../../wire/fleet/http/v1/task_pb.js";
import { createSnakeRecord, MalformedAnswer } from "./snake-record.ts";

const readInfo = createSnakeRecord(QueryTaskChainInfoSchema);

/**
 * One chain of QueryTaskChain from its JSON. A chain is finished when it has a
 * finish time: the statuses are not documented, but it is documented that the time is
 * empty while unfinished. Throws MalformedAnswer.
 */
export function taskChainFromJson(json: Json): TaskChain {
  const info = readInfo(json);
  const state = info.task_chain_state as Json;
  if (!isJsonObject(state)) throw new MalformedAnswer("taskChainState is missing");
  return {
    chainId: Number(state.id),
    amrId: Number(state.amr_id),
    taskSeq: String(state.task_seq),
    status: String(state.status),
    finished: state.finish_time !== "",
    info,
  };
}
