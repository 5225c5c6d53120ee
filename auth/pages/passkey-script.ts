import { createHash } from 'node:crypto';
import { readFileSync } from 'node:fs';
import { Router } from 'express';
import { refuseOtherMethods } from '#shared/http/answer-errors.ts';

const SCRIPT = readFileSync(new URL('./passkey.js', import.meta.url));
const PATH = '/account/passkey.js';
const VERSION = createHash('sha256').update(SCRIPT).digest('base64url').slice(0, 16);
const YEAR_S = 31_536_000;

/** Another script has another address, so a browser may keep each: but not where another release answers, while processes are replaced. */
export const passkeyScriptUrl = (issuerUrl: string): string => `${issuerUrl}${PATH}?v=${VERSION}`;

export const passkeyScriptRoutes = (): Router =>
  Router()
    .get(PATH, ({ query }, response) => {
      response
        .set({
          'Content-Type': 'text/javascript; charset=utf-8',
          'Cache-Control': query.v === VERSION ? `public, max-age=${YEAR_S}, immutable` : 'no-store',
          'X-Content-Type-Options': 'nosniff',
        })
        .send(SCRIPT);
    })
    .all(PATH, refuseOtherMethods('GET', 'HEAD'));
