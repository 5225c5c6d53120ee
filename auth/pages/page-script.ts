import { createHash } from 'node:crypto';
import { readFileSync } from 'node:fs';
import { Router } from 'express';
import { refuseOtherMethods } from '#edge/http/answer-errors.ts';

/** A script that its page also works without. */
type PageScript = { url(issuerUrl: string): string; routes(): Router };

const YEAR_S = 31_536_000;

/**
 * The address changes with the script, so browsers may cache it for long. During a rolling update, a process
 * of another release may answer; that answer is not cached.
 */
const pageScript = (name: string): PageScript => {
  const script = readFileSync(new URL(`./${name}`, import.meta.url));
  const path = `/account/${name}`;
  const version = createHash('sha256').update(script).digest('base64url').slice(0, 16);
  return {
    url: (issuerUrl) => `${issuerUrl}${path}?v=${version}`,
    routes: () =>
      Router()
        .get(path, ({ query }, response) => {
          response
            .set({
              'Content-Type': 'text/javascript; charset=utf-8',
              'Cache-Control': query.v === version ? `public, max-age=${YEAR_S}, immutable` : 'no-store',
              'X-Content-Type-Options': 'nosniff',
            })
            .send(script);
        })
        .all(path, refuseOtherMethods('GET', 'HEAD')),
  };
};

export const passkeyScript = pageScript('passkey.js');
export const copyScript = pageScript('copy.js');
