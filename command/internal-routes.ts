import express, { Router } from 'express';
import { InvalidAssertion, verifyAssertion } from '#shared/command-gateway/assertion.ts';
import type { CommandGateway } from '#shared/command-gateway/command-gateway.ts';
import { contextOf, SentCommand } from '#shared/command-gateway/wire.ts';
import { refuseOtherMethods } from '#shared/http/answer-errors.ts';
import { HttpProblem } from '#shared/http/http-problem.ts';
import { Rejection } from '#shared/rejection.ts';

const BEARER = /^Bearer ([\w-]+\.[\w-]+\.[\w-]+)$/;

/** Where the other roles hand over commands. The assertion is bound to the exact body, so that is read as text. */
export const internalRoutes = ({ gateway, key, bodyBytesMax }: { gateway: CommandGateway; key: Buffer; bodyBytesMax: number }): Router =>
  Router()
    .post('/commands', express.text({ type: 'application/json', limit: bodyBytesMax }), async (request, response) => {
      const body = typeof request.body === 'string' ? request.body : '';
      const [, assertion = ''] = BEARER.exec(request.get('authorization') ?? '') ?? [];
      const caller = await verifyAssertion(key, { assertion, body }).catch(refuseAssertion);
      const sent = SentCommand.parse(parseJson(body));
      response.json(await gateway.send(sent.command, contextOf(sent, caller)));
    })
    .all('/commands', refuseOtherMethods('POST'));

const parseJson = (body: string): unknown => {
  try {
    return JSON.parse(body);
  } catch (cause) {
    throw new HttpProblem('malformed_body', { cause });
  }
};

const refuseAssertion = (error: unknown): never => {
  if (error instanceof InvalidAssertion) throw new Rejection('unauthenticated', {}, { cause: error });
  throw error;
};
