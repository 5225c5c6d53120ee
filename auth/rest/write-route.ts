import canonicalize from 'canonicalize';
import type { Request, Response } from 'express';
import { callerOf } from '#edge/authenticate/authenticate.ts';
import { idempotencyKeyOf } from '#edge/rest/writes/context.ts';
import { actorOf } from '#shared/policy.ts';
import type { KeyedWrites, Settle, Written } from '../storage/keyed-writes.ts';
import { answerJson } from './answer-json.ts';

type Parameters = Readonly<Record<string, string>>;

/** Without a key there is nothing to store. */
const settleNothing: Settle = async () => undefined;

/** A handler of a write that honours `Idempotency-Key`. Checks before it are made for a repetition too. */
export const writeRoute =
  <Names extends Parameters>(
    keyedWrites: KeyedWrites,
    execute: (request: Request<Names>, settle: Settle) => Promise<Written>,
  ) =>
  async (request: Request<Names>, response: Response): Promise<void> => {
    const key = idempotencyKeyOf(request);
    const written =
      key === undefined
        ? await execute(request, settleNothing)
        : await keyedWrites({ owner: ownerOf(request), key, content: contentOf(request) }, (settle) =>
            execute(request, settle),
          );
    answerWritten(request, response, written);
  };

const ownerOf = (request: Request<Parameters>): string => {
  const caller = callerOf(request);
  return `${actorOf(caller)} ${caller.kind === 'user' ? caller.client : ''}`;
};

const contentOf = (request: Request<Parameters>): string =>
  canonicalize([
    request.method,
    `${request.baseUrl}${request.path}`,
    request.get('If-Match') ?? null,
    request.body ?? null,
  ]) ?? '';

const answerWritten = (
  request: Request<Parameters>,
  response: Response,
  { status, location, entityTag, text }: Written,
): void => {
  response.status(status);
  if (location !== undefined) response.location(location);
  if (entityTag !== undefined) response.set('ETag', entityTag);
  if (text === undefined) response.end();
  else answerJson(request, response, { text, version: 0 });
};
