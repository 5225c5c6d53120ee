/** Measured: the linked tokens and nodes of a text, per character. */
const BYTES_PER_CHARACTER = 150;
/** Longer documents have fewer and longer tokens, because the number of tokens is limited. */
const DENSE_CHARACTERS_MAX = 8_000;
const BYTES_PER_LETTER = 2;

/**
 * The approximate size of a parsed document, for caches. A reference to any of its nodes keeps the whole
 * document alive.
 */
export const bytesOfDocument = (characters: number): number =>
  1 + BYTES_PER_LETTER * characters + BYTES_PER_CHARACTER * Math.min(characters, DENSE_CHARACTERS_MAX);
