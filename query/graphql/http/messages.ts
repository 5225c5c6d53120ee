import { print } from 'graphql-sse';
import type { Problem } from '#edge/http/problem.ts';
import type { ClosingMessage } from '../../sse/event-stream.ts';
import { eventMessage, plainClosingMessage } from '../../sse/messages.ts';
import { formatProblem } from '../rules/errors.ts';

/**
 * Messages of GraphQL over SSE (https://github.com/enisdenjo/graphql-sse/blob/master/PROTOCOL.md): `next` and
 * `complete`. On a connection that several operations share, each names its operation.
 */

export const COMPLETE = Buffer.from(print({ event: 'complete', data: null }));

export const resultMessage = (result: string): Buffer => eventMessage({ event: 'next', data: result });

const OF_OPERATION = { next: 'event: next\ndata: {"id":', payload: ',"payload":', end: '}\n\n' } as const;

export const resultOfOperation = (id: string, result: Buffer): Buffer =>
  Buffer.concat([
    Buffer.from(`${OF_OPERATION.next}${JSON.stringify(id)}${OF_OPERATION.payload}`),
    result,
    Buffer.from(OF_OPERATION.end),
  ]);

export const completeOfOperation = (id: string): Buffer =>
  Buffer.from(print({ event: 'complete', data: { id } }));

export const resultOfProblem = ({ body }: Problem): string =>
  JSON.stringify({ errors: [formatProblem(body)] });

/**
 * True for a temporary problem, such as a stopping server: the client should reconnect, so nothing is
 * completed.
 */
export const isTemporary = (problem: Problem): boolean => problem.body.code === 'unavailable';

/**
 * Sends an error with the reason why the stream ends. A client reopens a stream that ends without `complete`.
 */
export const closingMessage: ClosingMessage = (problem) =>
  problem === undefined || isTemporary(problem)
    ? plainClosingMessage(undefined)
    : Buffer.concat([resultMessage(resultOfProblem(problem)), COMPLETE]);
