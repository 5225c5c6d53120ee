import { type RequestHandler, Router } from 'express';
import { expect, test } from 'vitest';
import { serveRoutes } from '../../test/serve.ts';
import { inSequence } from './in-sequence.ts';

/** The handlers that a request has met, in order. */
const met = new WeakMap<object, string[]>();
const named =
  (name: string, more: RequestHandler): RequestHandler =>
  (request, ...rest) => {
    met.set(request, [...(met.get(request) ?? []), name]);
    return more(request, ...rest);
  };
const passing =
  (error?: unknown): RequestHandler =>
  (_request, _response, next) =>
    next(error);
const answer: RequestHandler = (request, response) => void response.json(met.get(request));
const leaving = (word: string) => Router().use(named('nested', passing(word)), named('skipped?', passing()));

test.each<[string, RequestHandler, readonly string[]]>([
  ['a handler that passes', passing(), ['one', 'two', 'outside']],
  ['a handler that passes null', passing(null), ['one', 'two', 'outside']],
  ['a handler that leaves its route', passing('route'), ['one', 'two', 'outside']],
  ['a handler that leaves the sequence', passing('router'), ['one', 'outside']],
  ['a router that a handler leaves', leaving('router'), ['one', 'nested', 'two', 'outside']],
  [
    'a router with a handler that leaves its route',
    leaving('route'),
    ['one', 'nested', 'skipped?', 'two', 'outside'],
  ],
])('%s is no failure, as in a router', async (_name, handler, names) => {
  const handlers = [named('one', handler), named('two', passing())];
  const outside = named('outside', answer);
  await using short = await serveRoutes(inSequence(handlers), outside);
  await using long = await serveRoutes(Router().use(...handlers), outside);
  for (const { url } of [short, long]) expect(await (await fetch(url)).json()).toEqual(names);
});
