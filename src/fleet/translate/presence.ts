import { isIdentifierNumber } from "../../domain/identifier.ts";
import type { Presence } from "../../domain/presence.ts";
import type { Json } from "../../platform/json.ts";
import { OnlineAMRInfoSchema } from "../../wire/fleet/http/v1/task_pb.js";
import { createSnakeRecord, MalformedAnswer } from "./snake-record.ts";

const readInfo = createSnakeRecord(OnlineAMRInfoSchema);

/**
 * One robot of GetOnlineRobots from its JSON, with its name. `id` is the robot's number
 * in decimal, `name` its robot_id (docs/service.md, How deployed services behave).
 * Throws MalformedAnswer.
 */
export function presenceFromJson(json: Json): { readonly name: string; readonly presence: Presence } {
  const info = readInfo(json);
  const amrId = /^\d{1,10}$/.test(String(info.id)) ? Number(info.id) : Number.NaN;
  if (!isIdentifierNumber(amrId, 1)) throw new MalformedAnswer("id should be a robot's number in decimal");
  return {
    name: String(info.name),
    presence: {
      amrId,
      mapId: Number(info.map_id),
      position: String(info.pos),
      stateId: String(info.state_id),
      taskChainId: Number(info.task_chain_id),
      info,
    },
  };
}
