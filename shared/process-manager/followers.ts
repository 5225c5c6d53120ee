/** The follower that ends children with their parents. */
export const PROCESS_MANAGER = 'process-manager';

/** The follower that notes references, and what follows from events. */
export const REACTIONS = 'reactions';
