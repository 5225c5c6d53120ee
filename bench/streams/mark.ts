/** Occurs once in each message, and nowhere else in the stream. */
export const MARK = '~';
