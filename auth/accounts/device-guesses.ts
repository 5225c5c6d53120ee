import type { IncomingMessage } from 'node:http';
import { type RequestHandler, Router } from 'express';
import { clientAddress } from '#edge/http/client-address.ts';
import { answerPage } from '../pages/answer-page.ts';
import { USER_CODE_MAX } from '../pages/device-pages.ts';
import { messagePage } from '../pages/message-page.ts';
import type { Allowance, Attempts } from './attempts.ts';
import { waitSeconds, waitText } from './sign-in-limits.ts';

/**
 * A code lives for ten minutes and is one of 20^8, so 30 attempts at once and two a minute find none (RFC
 * 8628, 5.1).
 */
const PER_ADDRESS: Allowance = { name: 'device-code', burst: 30, intervalMs: 30_000 };

const missed = new WeakSet<IncomingMessage>();
const given = new WeakMap<IncomingMessage, string>();

/** Marks a request whose code is unknown: only these are counted. */
export const markMissed = (request: IncomingMessage): void => void missed.add(request);

/** The code from the address. */
export const givenCode = (request: IncomingMessage): string => given.get(request) ?? '';

/** Runs before oidc-provider's own page for codes. */
export const deviceGuesses = (attempts: Attempts): Router =>
  Router().get('/device', showGivenCode).post('/device', countGuesses(attempts));

/** oidc-provider would submit a code in the address by a script; our page shows it in the field instead. */
const showGivenCode: RequestHandler = (request, _response, next) => {
  const code = new URL(request.url, 'http://of.no.account').searchParams.get('user_code');
  if (code !== null && code.length <= USER_CODE_MAX) given.set(request, code);
  request.url = '/device';
  next();
};

/**
 * Takes one before the code is looked up, so that parallel attempts cannot evade the limit, and gives it back
 * if the code was right.
 */
const countGuesses =
  (attempts: Attempts): RequestHandler =>
  async (request, response, next) => {
    const address = clientAddress(request);
    const taken = await attempts.take(PER_ADDRESS, address);
    if (!taken.granted) {
      response.set('Retry-After', String(waitSeconds(taken.waitMs)));
      const text = `Too many codes were tried. Try again in ${waitText(taken.waitMs)}.`;
      return answerPage(response, messagePage({ status: 429, title: 'Too many attempts', text }));
    }
    response.once('finish', () => {
      if (!missed.has(request)) attempts.giveBack(PER_ADDRESS, address).catch(() => {});
    });
    next();
  };
