/** The schema that reads are served from. */
export const LIVE_SCHEMA = 'read_model';

/** The follower whose checkpoint is the position of the live schema. */
export const PROJECTOR = 'projector';

/** The schema of a read model, and the follower that fills it. */
export type ReadModelTarget = { readonly schema: string; readonly follower: string };

/** The one that reads are served from. */
export const LIVE: ReadModelTarget = { schema: LIVE_SCHEMA, follower: PROJECTOR };

/** One that is being built. */
export const NEXT: ReadModelTarget = { schema: 'read_model_next', follower: 'projector_next' };

/** The one that was live before the last swap. */
export const PREVIOUS: ReadModelTarget = { schema: 'read_model_previous', follower: 'projector_previous' };
