/** A CreateMission request, as JSON. */
export function cartMission(destinationId: string) {
  return {
    robotId: "cart-01",
    mission: { baseMission: { navigateMission: { goal: { destinationId } } } },
  };
}
