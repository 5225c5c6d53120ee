import express, { type Request, Router } from 'express';
import type { Domain } from '#kernel/registry/registry.ts';
import { InvalidAssertion, verifyAssertion } from '#shared/command-gateway/assertion.ts';
import type { CommandGateway } from '#shared/command-gateway/command-gateway.ts';
import { contextOf, parseSent, TAKES_WITHHELD } from '#shared/command-gateway/wire.ts';
import { refuseOtherMethods } from '#shared/http/answer-errors.ts';
import { HttpProblem } from '#shared/http/http-problem.ts';
import { namesOf, traceparentOf } from '#shared/http/request-span.ts';
import type { Log } from '#shared/log.ts';
import { type Caller, policyOf } from '#shared/policy.ts';

const BEARER = /^Bearer ([\w-]+\.[\w-]+\.[\w-]+)$/;

type InternalOptions = {
  readonly domain: Domain;
  readonly gateway: CommandGateway;
  readonly key: Buffer;
  readonly bodyBytesMax: number;
  readonly log: Log;
};

/** Where the other roles hand over commands. The assertion is bound to the exact body, so that is read as text. */
export const internalRoutes = ({ domain, gateway, key, bodyBytesMax, log }: InternalOptions): Router => {
  const policy = policyOf(domain);
  const verify = async (request: Request, body: string): Promise<Caller> => {
    const [, assertion = ''] = BEARER.exec(request.get('authorization') ?? '') ?? [];
    try {
      return await verifyAssertion(key, { assertion, body, policy });
    } catch (cause) {
      if (!(cause instanceof InvalidAssertion)) throw cause;
      // No caller can do anything about it: the roles differ in MASTER_KEY or in their clocks, or somebody is where nobody should be.
      log.error({ err: cause, ...namesOf(request) }, 'A command came without a valid assertion of its caller.');
      throw new HttpProblem('invalid_assertion', { cause });
    }
  };
  return Router()
    .post('/commands', express.text({ type: 'application/json', limit: bodyBytesMax }), async (request, response) => {
      const body = typeof request.body === 'string' ? request.body : '';
      const caller = await verify(request, body);
      const sent = parseSent(domain, parseJson(body));
      const { withheld, ...answer } = await gateway.send(sent.command, { ...contextOf(sent, caller), trace: traceparentOf(request) });
      response.json(withheld !== undefined && request.get(TAKES_WITHHELD) !== undefined ? { ...answer, withheld } : answer);
    })
    .all('/commands', refuseOtherMethods('POST'));
};

const parseJson = (body: string): unknown => {
  try {
    return JSON.parse(body);
  } catch (cause) {
    throw new HttpProblem('malformed_body', { cause });
  }
};
