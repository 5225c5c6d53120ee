/** Measured: the tokens and nodes of a text, which know each other. */
const BYTES_PER_CHARACTER = 150;
/** Beyond so many, tokens are few and long, because the number of tokens is limited. */
const DENSE_CHARACTERS_MAX = 8_000;
const BYTES_PER_LETTER = 2;

/** About what a parsed document takes, for caches; whoever keeps any node of it keeps it whole. */
export const bytesOfDocument = (characters: number): number =>
  1 + BYTES_PER_LETTER * characters + BYTES_PER_CHARACTER * Math.min(characters, DENSE_CHARACTERS_MAX);
