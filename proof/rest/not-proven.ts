/** The refusals of proofs that cannot be made now. */
export const NOT_YET = {
  detail: 'The proof has not reached this event yet.',
  headers: { 'Retry-After': '1' },
};
export const EDITED = {
  detail: 'There is no proof of this event: the chain has another one in its place. Run audit verify.',
};
