/** The name of the follower that builds the chain. */
export const CHAIN = 'chain';
