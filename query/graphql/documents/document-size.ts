/** Measured: the nodes of a text and their places, per character. */
const BYTES_PER_CHARACTER = 110;
/** Longer documents have fewer and longer tokens, because the number of tokens is limited. */
const DENSE_CHARACTERS_MAX = 8_000;
const BYTES_PER_LETTER = 2;

/**
 * The approximate size of a parsed document, for caches. A reference to any of its nodes keeps the whole
 * document alive.
 */
export const bytesOfDocument = (characters: number): number =>
  1 + BYTES_PER_LETTER * characters + BYTES_PER_CHARACTER * Math.min(characters, DENSE_CHARACTERS_MAX);

/** The same of a refused one, of which its errors are kept. */
export const bytesOfRefused = (characters: number, errors: number): number =>
  BYTES_PER_ERROR * errors + BYTES_PER_LETTER * characters;
const BYTES_PER_ERROR = 1_500;
