import { hash } from 'node:crypto';
import type { Charge } from './gcra.ts';

/** A key as others may see it: of one length whatever clients send, and no address in clear. */
export const storedKey = ({ policy, key }: Charge): string =>
  hash('sha256', `${policy}\n${key}`, 'base64url');
