/** The service's `robot_id`: any text. */
export type RobotId = string;

/** What the gateway knows of a robot's kind. Only carts have conveyors. */
export type Family = "cart" | "serve" | "base" | "unknown";
