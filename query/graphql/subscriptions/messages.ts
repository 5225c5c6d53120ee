import { print } from 'graphql-sse';
import type { Problem } from '#shared/http/problem.ts';
import type { Farewell } from '../../sse/event-stream.ts';
import { eventMessage, plainFarewell } from '../../sse/messages.ts';
import { formatProblem } from '../errors.ts';

/**
 * Messages of GraphQL over SSE (https://github.com/enisdenjo/graphql-sse/blob/master/PROTOCOL.md). There are
 * two kinds, `next` and `complete`; with a connection that several operations share, each names the operation
 * that it is of.
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

/** Whether a client does best to come again, as after the server was stopped: then nothing is complete. */
export const isPassing = (problem: Problem): boolean => problem.body.code === 'unavailable';

/**
 * An error says why the stream ends. A stream that ends without being complete is one that clients open
 * again.
 */
export const farewell: Farewell = (problem) =>
  problem === undefined || isPassing(problem)
    ? plainFarewell(undefined)
    : Buffer.concat([resultMessage(resultOfProblem(problem)), COMPLETE]);
