import { hash } from 'node:crypto';
import type { Charge } from './gcra.ts';

/** A key in its stored form: of one length whatever clients send, and without an address in clear. */
export const storedKey = ({ policy, key }: Charge): string =>
  hash('sha256', `${policy}\n${key}`, 'base64url');
