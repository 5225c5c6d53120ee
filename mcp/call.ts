import { randomUUID } from 'node:crypto';
import type { Request } from 'express';
import { requestIdOf } from '#edge/http/request-context.ts';
import type { Json, JsonObject } from '#kernel/base/json.ts';
import { type Answered, ask } from './ask.ts';
import { BODY, VERSION } from './input-schemas.ts';
import type { NextSteps } from './next-steps.ts';
import type { Tool } from './tools.ts';

type Call = {
  readonly tool: Tool;
  readonly given: JsonObject;
  /** A key of the client, by which a repeated call runs once. */
  readonly key: string | undefined;
  /** The trace that the agent is in. */
  readonly traceparent: string | undefined;
  readonly signal: AbortSignal;
};

export type Outcome = { readonly isRefused: boolean; readonly content: JsonObject };

/** Calls an operation, and says the result with the next steps that the caller may take. */
export const call = async (
  outer: Request,
  { tool, given, key, traceparent, signal }: Call,
  nextSteps: NextSteps,
): Promise<Outcome> => {
  const { method, answer } = tool.operation;
  const isWrite = method !== 'GET';
  const answered = await ask(outer, {
    ...{ method, path: pathOf(tool, given), body: bodyOf(tool, given), signal },
    headers: {
      Accept: 'application/json',
      'X-Request-Id': requestIdOf(outer),
      ...(traceparent !== undefined && { traceparent }),
      ...(isWrite && { 'Idempotency-Key': key ?? randomUUID() }),
      ...(isWrite && answer.kind === 'written' && { Prefer: 'return=representation' }),
      ...(tool.places.takesVersion && {
        'If-Match': typeof given[VERSION] === 'string' ? given[VERSION] : '*',
      }),
    },
  });
  return answered.status >= REFUSED_FROM
    ? { isRefused: true, content: jsonIn(answered) as JsonObject }
    : { isRefused: false, content: shown(answered, nextSteps) };
};

const REFUSED_FROM = 400;

const pathOf = (tool: Tool, given: JsonObject): string => {
  const path = tool.operation.path.replaceAll(/\{(\w+)\}/g, (_, name: string) =>
    encodeURIComponent(String(given[name])),
  );
  const query = new URLSearchParams(
    Object.entries(given).flatMap(([name, value]) =>
      placeOf(tool, name) === 'query' && value !== null && value !== undefined
        ? [[name, textOf(value)] as [string, string]]
        : [],
    ),
  ).toString();
  return query === '' ? path : `${path}?${query}`;
};

/** An unknown argument goes where the operation refuses it. */
const placeOf = ({ places }: Tool, name: string): 'path' | 'query' | 'body' | 'header' => {
  if (places.path.has(name)) return 'path';
  if (places.takesVersion && name === VERSION) return 'header';
  return places.body === 'none' || places.query.has(name) || (places.body === 'whole' && name !== BODY)
    ? 'query'
    : 'body';
};

const textOf = (value: Json): string => (Array.isArray(value) ? value.join(',') : String(value));

const bodyOf = (tool: Tool, given: JsonObject): JsonObject | undefined => {
  if (tool.places.body === 'none') return undefined;
  if (tool.places.body === 'whole') return given[BODY] as JsonObject | undefined;
  return Object.fromEntries(Object.entries(given).filter(([name]) => placeOf(tool, name) === 'body'));
};

const jsonIn = ({ text }: Answered): Json => (text === '' ? null : (JSON.parse(text) as Json));

const shown = (answered: Answered, nextSteps: NextSteps): JsonObject => {
  const body = jsonIn(answered);
  if (Array.isArray(body)) {
    const more = nextPage(answered);
    return { items: body.map((item) => nextSteps(item)), ...(more !== undefined && { more }) };
  }
  const { etag } = answered.headers;
  return body === null ? { done: true } : { item: nextSteps(body), ...(etag !== undefined && { etag }) };
};

/** The arguments that ask for the next page, beside the same others. */
const nextPage = ({ headers }: Answered): JsonObject | undefined => {
  const [, href] = /<([^>]*)>;[^,]*rel="next"/.exec(String(headers.link ?? '')) ?? [];
  const after = href === undefined ? null : new URL(href, 'http://localhost').searchParams.get('after');
  return after === null ? undefined : { after };
};
