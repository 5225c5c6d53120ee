import { hash, randomInt } from 'node:crypto';
import { crc32 } from 'node:zlib';

/** The prefix of personal access tokens, by which scanners of sources and logs recognize one. */
export const PERSONAL_TOKEN_PREFIX = 'annals_pat_';

const ALPHABET = '0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz';
/** 256 bits. */
const SECRET_LENGTH = 43;
/** Of a CRC-32 in base 62. */
const CHECKSUM_LENGTH = 6;
const FORM = new RegExp(
  `^(${PERSONAL_TOKEN_PREFIX}[0-9A-Za-z]{${SECRET_LENGTH}})([0-9A-Za-z]{${CHECKSUM_LENGTH}})$`,
);

/** Created and shown once; only its digest is stored. */
export const newPersonalToken = (): string => {
  const secret = Array.from({ length: SECRET_LENGTH }, () => ALPHABET[randomInt(ALPHABET.length)]).join('');
  return withChecksum(`${PERSONAL_TOKEN_PREFIX}${secret}`);
};

/**
 * Whether a text has the form of one. The checksum distinguishes tokens from other texts without asking the database;
 * it proves nothing.
 */
export const isPersonalToken = (text: string): boolean => {
  const [, body] = FORM.exec(text) ?? [];
  return body !== undefined && withChecksum(body) === text;
};

/**
 * Equals the digest in `credentialsOf`. The secret is random and long, so a plain digest does not reveal it.
 */
export const digestOfToken = (token: string): string => hash('sha256', token, 'base64url');

const withChecksum = (body: string): string => {
  const digits: string[] = [];
  for (
    let rest = crc32(body), left = CHECKSUM_LENGTH;
    left > 0;
    left -= 1, rest = Math.floor(rest / ALPHABET.length)
  )
    digits.unshift(ALPHABET[rest % ALPHABET.length] ?? '');
  return `${body}${digits.join('')}`;
};
