import { randomUUID } from 'node:crypto';
import type { Request } from 'express';
import { STATUS_CODES } from '#edge/http/node-http.ts';
import { requestIdOf } from '#edge/http/request-context.ts';
import { traceparentOf } from '#edge/http/request-span.ts';
import type { Json, JsonObject } from '#kernel/base/json.ts';
import { REASON, REASON_HEADER } from '#kernel/base/reason.ts';
import { HTTP_PROBLEMS } from '#kernel/base/rest/http-problem.ts';
import { parseTraceparent } from '#kernel/base/traceparent.ts';
import { type Answered, ask } from './ask.ts';
import { BODY, VERSION } from './input-schemas.ts';
import type { NextSteps } from './next-steps.ts';
import type { Tool } from './tools.ts';

type Call = {
  readonly tool: Tool;
  readonly given: JsonObject;
  /** A key of the client, by which a repeated call runs once. */
  readonly key: Json | undefined;
  /** The trace that the agent is in. */
  readonly traceparent: string | undefined;
  readonly signal: AbortSignal;
};

export type Means = {
  readonly nextSteps: NextSteps;
  readonly headerBytesMax: number;
  /** The page on which a person approves a request, by the path of the request. */
  pageOf(request: string): string | undefined;
};

export type Outcome = { readonly isRefused: boolean; readonly content: JsonObject };

/** Calls an operation, and says the result with the next steps that the caller may take. */
export const call = async (
  outer: Request,
  { tool, given, key, traceparent, signal }: Call,
  { nextSteps, headerBytesMax, pageOf }: Means,
): Promise<Outcome> => {
  const faults = [...faultsOf(tool, given), ...faultsOfKey(key)];
  if (faults.length > 0) return { isRefused: true, content: refusalFor(faults) };
  const { method, answer } = tool.operation;
  const isWrite = method !== 'GET';
  const parent = parseTraceparent(traceparent) === undefined ? traceparentOf(outer) : traceparent;
  const version = tool.places.takesVersion ? given[VERSION] : undefined;
  const reason = tool.places.takesReason ? given[REASON] : undefined;
  const headers = {
    Accept: 'application/json',
    'X-Request-Id': requestIdOf(outer),
    ...(parent !== undefined && { traceparent: parent }),
    ...(isWrite && { 'Idempotency-Key': typeof key === 'string' ? key : randomUUID() }),
    ...(isWrite && answer.kind === 'written' && { Prefer: 'return=representation' }),
    ...(typeof version === 'string' && { 'If-Match': version }),
    ...(typeof reason === 'string' && { [REASON_HEADER]: encodeURIComponent(reason) }),
  };
  const asked = { method, path: pathOf(tool, given), body: bodyOf(tool, given), headers, signal };
  const answered = await ask(outer, asked, { headerBytesMax });
  if (answered.status === ACCEPTED && isProblem(answered))
    return { isRefused: false, content: waiting(answered, { nextSteps, pageOf }) };
  return answered.status >= REFUSED_FROM
    ? { isRefused: true, content: refusalIn(answered) }
    : { isRefused: false, content: shown(answered, nextSteps) };
};

const REFUSED_FROM = 400;
const ACCEPTED = 202;

const isProblem = ({ headers }: Answered): boolean =>
  String(headers['content-type'] ?? '').startsWith('application/problem+json');

/** A person must approve the call: with the page on which they do, and the tool that reads what becomes of it. */
const waiting = (
  answered: Answered,
  { nextSteps, pageOf }: Pick<Means, 'nextSteps' | 'pageOf'>,
): JsonObject => {
  const { code, title, details } = jsonIn(answered) as JsonObject;
  const { request, href } = details as JsonObject;
  const link = pageOf(String(href));
  const { next } = nextSteps({ _links: { outcome: { href } } } as JsonObject);
  return {
    ...{ code, title, request },
    ...(link !== undefined && { link }),
    ...(next !== undefined && { next }),
  } as JsonObject;
};

type Fault = { readonly pointer: string; readonly detail: string };

/** The values that a request could not carry to the operation, which refuses all others. */
const faultsOf = ({ places }: Tool, given: JsonObject): readonly Fault[] => [
  ...[...places.path].flatMap((name) =>
    isSegment(given[name])
      ? []
      : [{ pointer: `/${name}`, detail: 'Give a number or a text, as it was read.' }],
  ),
  ...(!places.takesVersion || given[VERSION] === undefined || isHeader(given[VERSION])
    ? []
    : [{ pointer: `/${VERSION}`, detail: 'Give the text as it was read, or leave it out.' }]),
  ...(!places.takesReason || given[REASON] === undefined || isText(given[REASON])
    ? []
    : [{ pointer: `/${REASON}`, detail: 'Give a text.' }]),
];

const isText = (value: Json | undefined): boolean => typeof value === 'string' && value.isWellFormed();

const faultsOfKey = (key: Json | undefined): readonly Fault[] =>
  key === undefined || isHeader(key)
    ? []
    : [{ pointer: '/_meta/annals~1idempotency-key', detail: 'Give 1 to 255 visible ASCII characters.' }];

const isSegment = (value: Json | undefined): boolean =>
  typeof value === 'number' || (typeof value === 'string' && value !== '' && value.isWellFormed());

const isHeader = (value: Json | undefined): boolean =>
  typeof value === 'string' && /^[\x20-\x7e]+$/.test(value);

const refusalFor = (errors: readonly Fault[]): JsonObject => {
  const [status, title] = HTTP_PROBLEMS.invalid_request;
  return { title, status, code: 'invalid_request', errors: [...errors] };
};

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
  if (places.takesReason && name === REASON) return 'header';
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

/** A request that Node itself refuses gets no problem. */
const refusalIn = (answered: Answered): JsonObject => {
  const { status } = answered;
  const isJson = /json/.test(String(answered.headers['content-type'] ?? ''));
  return isJson && answered.text !== ''
    ? (jsonIn(answered) as JsonObject)
    : { status, title: STATUS_CODES[status] ?? 'Refused' };
};

const shown = (answered: Answered, nextSteps: NextSteps): JsonObject => {
  const body = jsonIn(answered);
  if (Array.isArray(body)) {
    const more = nextPage(answered);
    return { items: body.map((item) => nextSteps(item)), ...(more !== undefined && { more }) };
  }
  const { etag } = answered.headers;
  return body === null ? { done: true } : { ...nextSteps(body), ...(etag !== undefined && { etag }) };
};

/** The arguments that ask for the next page, beside the same others. */
const nextPage = ({ headers }: Answered): JsonObject | undefined => {
  const [, href] = /<([^>]*)>;[^,]*rel="next"/.exec(String(headers.link ?? '')) ?? [];
  const after = href === undefined ? null : new URL(href, 'http://localhost').searchParams.get('after');
  return after === null ? undefined : { after };
};
