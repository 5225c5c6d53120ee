/** What a message has once, and nothing else that comes has. */
export const MARK = '~';
