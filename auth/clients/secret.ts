import { createHash, randomBytes, timingSafeEqual } from 'node:crypto';

const SECRET_BYTES = 32;
/** So that scanners of repositories recognise one. */
const PREFIX = 'annals_secret_';

export const newSecret = (): string => PREFIX + randomBytes(SECRET_BYTES).toString('base64url');

export const hashSecret = (secret: string): Buffer => createHash('sha256').update(secret).digest();

export const isSecret = (secret: string, hash: Buffer): boolean => timingSafeEqual(hashSecret(secret), hash);
