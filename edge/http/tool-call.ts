import type { IncomingMessage } from 'node:http';
import { requestFact } from './request-fact.ts';

const toolCalls = requestFact<true>('tool call');

/** Marks a request within the process as that of a tool, which an agent has called. */
export const markToolCall = (inner: IncomingMessage): void => toolCalls.set(inner, true);

export const isToolCall = (request: IncomingMessage): boolean => toolCalls.of(request) === true;
