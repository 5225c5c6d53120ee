import crypto from 'node:crypto';
import { promisify } from 'node:util';
import { loadEngine } from '#shared/load-engine.ts';

type Argon2id = {
  readonly message: string;
  readonly nonce: Buffer;
  readonly parallelism: number;
  readonly memory: number;
  readonly passes: number;
  readonly tagLength: number;
};

type Derive = (given: Argon2id) => Promise<Buffer>;

/** Derives keys on a separate thread. */
export const loadArgon2id = async (): Promise<Derive> => ('argon2' in crypto ? ofNode : ofPackage());

const ofNode: Derive = (given) => promisify(crypto.argon2)('argon2id', given);

/** The fallback for Node 22, which has no argon2. */
export const ofPackage = async (): Promise<Derive> => {
  const { hashRaw } = await loadEngine('Node 22', () => import('@node-rs/argon2'));
  return ({ message, nonce, parallelism, memory, passes, tagLength }) =>
    hashRaw(message, {
      algorithm: ARGON2ID,
      salt: nonce,
      parallelism,
      memoryCost: memory,
      timeCost: passes,
      outputLen: tagLength,
    });
};

/** The package's types declare this as a `const enum`, which has no value at run time. */
const ARGON2ID = 2;
