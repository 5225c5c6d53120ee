import { hash, randomBytes, timingSafeEqual } from 'node:crypto';

const SECRET_BYTES = 32;
/** Lets secret scanners of repositories recognise one. */
const PREFIX = 'annals_secret_';

export const newSecret = (): string => PREFIX + randomBytes(SECRET_BYTES).toString('base64url');

export const hashSecret = (secret: string): Buffer => hash('sha256', secret, 'buffer');

export const isSecret = (secret: string, digest: Buffer): boolean =>
  timingSafeEqual(hashSecret(secret), digest);
