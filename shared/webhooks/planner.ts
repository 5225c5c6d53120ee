/** The name of the lease and the checkpoint of the planner. */
export const PLANNER = 'webhook-planner';
