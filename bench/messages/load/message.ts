import { create, toBinary } from "@bufbuild/protobuf";
import { timestampFromMs } from "@bufbuild/protobuf/wkt";
import { MissionState_State } from "../../../src/wire/fleet/v1/mission_pb.js";
import { Feedback_Status, ServeType } from "../../../src/wire/fleet/v1/serve/serve_pb.js";
import { SubscribeMissionStatusResponseSchema } from "../../../src/wire/fleet/v1/service_pb.js";

const STOPS = 4;

/**
 * Message number `sequence` of a robot that goes round four stops. From one
 * message to the next the same values change: sequence number, timestamp, goal
 * index and feedback (and, downstream, what derives from them).
 */
export function missionMessage(robotId: string, sequence: number): Buffer {
  return Buffer.from(
    toBinary(
      SubscribeMissionStatusResponseSchema,
      create(SubscribeMissionStatusResponseSchema, {
        metadata: { timestamp: timestampFromMs(Date.now()), sequenceNumber: BigInt(sequence) },
        robotId,
        missionStates: {
          currentMissionIndex: 0,
          missions: [
            {
              missionId: `m-${robotId}`,
              state: MissionState_State.RUNNING,
              goals: Array.from({ length: STOPS }, (_, stop) => ({
                goal: { case: "destinationId" as const, value: `Stop ${stop + 1}` },
              })),
              currentGoalIndex: sequence % STOPS,
              missionFeedback: {
                feedback: {
                  case: "serveFeedback",
                  value: {
                    status: sequence % 2 === 0 ? Feedback_Status.NAVIGATING : Feedback_Status.ARRIVED,
                  },
                },
              },
              missionType: { type: { case: "serveType", value: ServeType.SERVING_PATROL } },
              owner: "api",
            },
          ],
        },
      }),
    ),
  );
}
