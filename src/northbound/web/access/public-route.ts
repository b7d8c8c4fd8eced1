declare module "fastify" {
  interface FastifyContextConfig {
    /** The route needs no log-in: its answer reveals nothing of the fleet. */
    readonly isPublic?: boolean;
  }
}

/** The options of a route that needs no log-in. All others need one if there are users or tokens. */
export const publicRoute = { config: { isPublic: true } } as const;
