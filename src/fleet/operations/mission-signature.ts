import type { Goal, MissionType } from "../../domain/mission.ts";
import type { Mission as CartMission } from "../../wire/fleet/v1/cart/cart_pb.js";
import type { Goal as WireGoal } from "../../wire/fleet/v1/common_pb.js";
import type { BaseMission, Mission, MissionWorkflow } from "../../wire/fleet/v1/mission_pb.js";
import type { Mission as ServeMission } from "../../wire/fleet/v1/serve/serve_pb.js";
import { goalFromProto } from "../translate/messages.ts";

type AnyMission = BaseMission | ServeMission | CartMission;
type MissionCase = NonNullable<AnyMission["mission"]["case"]>;

/** The type that the stream shows of each mission (docs/internals/service.md, TRN-46). */
const typeOf = {
  base: { navigateMission: "BASE_TYPE_NAVIGATE", navigateAutoMission: "BASE_TYPE_NAVIGATE_AUTO" },
  serve: {
    deliveryMission: "SERVE_TYPE_SERVING",
    deliveryPatrolMission: "SERVE_TYPE_SERVING_PATROL",
    bussingMission: "SERVE_TYPE_BUSSING",
    bussingPatrolMission: "SERVE_TYPE_BUSSING_PATROL",
    navigateMission: "SERVE_TYPE_NAVIGATE",
    navigateAutoMission: "SERVE_TYPE_NAVIGATE_AUTO",
  },
  cart: {
    traverseMission: "CART_TYPE_TRAVERSE",
    traversePatrolMission: "CART_TYPE_TRAVERSE_PATROL",
    navigateMission: "CART_TYPE_NAVIGATE",
    navigateAutoMission: "CART_TYPE_NAVIGATE_AUTO",
  },
} as const;

/** The types with which a requested mission may appear in the stream; none if it names no mission. */
export function typesOfMission({ mission }: Mission): readonly MissionType[] {
  switch (mission.case) {
    case "baseMission":
      return named("base", typeOf.base, mission.value.mission.case);
    case "serveMission":
      return named("serve", typeOf.serve, mission.value.mission.case);
    case "cartMission":
      return named("cart", typeOf.cart, mission.value.mission.case);
    default:
      return [];
  }
}

function named<Family extends keyof typeof typeOf>(
  family: Family,
  names: (typeof typeOf)[Family],
  missionCase: MissionCase | undefined,
): readonly MissionType[] {
  for (const [each, type] of Object.entries(names)) if (each === missionCase) return [{ family, type }];
  return [];
}

/** The goals with which a requested mission appears in the stream; null: not known. */
export function goalsOfMission({ mission }: Mission): readonly Goal[] | null {
  const inner = mission.value?.mission.value;
  if (inner === undefined) return null;
  // A delivery may name its goals by tray instead.
  if ("goals" in inner) return inner.goals.length > 0 ? inner.goals.map(goalFromProto) : null;
  return oneGoal(inner.goal);
}

/** A workflow's first mission; its last one is the way home (docs/internals/service.md, TRN-41). */
export function typesOfWorkflow({ workflow }: MissionWorkflow): readonly MissionType[] {
  switch (workflow.case) {
    case "serveWorkflow":
      return serveWorkflowTypes(workflow.value.workflow.case);
    case "cartWorkflow":
      switch (workflow.value.workflow.case) {
        case "traverse":
          return [{ family: "cart", type: "CART_TYPE_TRAVERSE" }];
        case "traversePatrol":
          return [{ family: "cart", type: "CART_TYPE_TRAVERSE_PATROL" }];
        default:
          return [];
      }
    default:
      return [];
  }
}

function serveWorkflowTypes(
  workflowCase: Extract<MissionWorkflow["workflow"], { case: "serveWorkflow" }>["value"]["workflow"]["case"],
): readonly MissionType[] {
  switch (workflowCase) {
    case "delivery":
    case "birthday":
      return [{ family: "serve", type: "SERVE_TYPE_SERVING" }];
    case "deliveryPatrol":
      return [{ family: "serve", type: "SERVE_TYPE_SERVING_PATROL" }];
    case "bussing":
      return [{ family: "serve", type: "SERVE_TYPE_BUSSING" }];
    case "bussingPatrol":
      return [{ family: "serve", type: "SERVE_TYPE_BUSSING_PATROL" }];
    // How hosting appears is not documented: nothing tells it from other missions.
    default:
      return [];
  }
}

/** The goals of a workflow's first mission; null: not known. */
export function goalsOfWorkflow({ workflow }: MissionWorkflow): readonly Goal[] | null {
  const inner = workflow.value?.workflow.value;
  if (inner === undefined) return null;
  return "goals" in inner ? inner.goals.map(goalFromProto) : oneGoal(inner.goal);
}

function oneGoal(goal: WireGoal | undefined): readonly Goal[] | null {
  return goal === undefined ? null : [goalFromProto(goal)];
}
