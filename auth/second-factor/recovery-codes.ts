import { randomInt } from 'node:crypto';

const RECOVERY_CODES = 10;
/** 80 bits: nobody guesses one, even with its digest. */
const LENGTH = 16;
const GROUP = 4;
/** Crockford’s: no letter that looks like a digit, and no u. */
const ALPHABET = '0123456789abcdefghjkmnpqrstvwxyz';

export const newRecoveryCodes = (): readonly string[] => Array.from({ length: RECOVERY_CODES }, newCode);

const newCode = (): string =>
  (
    Array.from({ length: LENGTH }, () => ALPHABET[randomInt(ALPHABET.length)])
      .join('')
      .match(new RegExp(`.{${GROUP}}`, 'g')) ?? []
  ).join('-');

const MISREAD: Readonly<Record<string, string>> = { o: '0', i: '1', l: '1' };

/** Normalises typed text to an issued code; undefined if it cannot be one. */
export const recoveryCodeIn = (typed: string): string | undefined => {
  const plain = typed.toLowerCase().replaceAll(/[\s-]/g, '');
  const read = [...plain].map((character) => MISREAD[character] ?? character).join('');
  return read.length === LENGTH && [...read].every((character) => ALPHABET.includes(character))
    ? read
    : undefined;
};
