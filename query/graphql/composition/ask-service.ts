import { type DocumentNode, type ExecutionResult, GraphQLError, print } from 'graphql';
import * as z from 'zod';
import type { RequestFacts } from '../execute.ts';
import type { Service } from './services.ts';

export type ServiceRequest = {
  readonly document: DocumentNode;
  readonly variables?: Readonly<Record<string, unknown>> | undefined;
  readonly operationName?: string | undefined;
  /** Facts of the client’s request; undefined for requests of our own. */
  readonly facts?: RequestFacts | undefined;
  readonly signal: AbortSignal;
};

/** Sends an operation to another service. Fails on a timeout, or if the answer is not GraphQL. */
export type AskService = (request: ServiceRequest) => Promise<ExecutionResult>;

const ANSWER_BYTES_MAX = 16 * 1_048_576;

const Answer = z
  .looseObject({
    data: z.record(z.string(), z.unknown()).nullish(),
    errors: z.array(z.looseObject({ message: z.string() })).optional(),
  })
  .refine(({ data, errors }) => data !== undefined || errors !== undefined);

export const createAskService =
  (service: Service): AskService =>
  async ({ document, variables, operationName, facts, signal }) => {
    const response = await fetch(service.url, {
      method: 'POST',
      headers: headersFor(service, facts),
      body: JSON.stringify({ query: print(document), variables, operationName }),
      redirect: 'error',
      signal: AbortSignal.any([AbortSignal.timeout(service.timeoutMs), signal]),
    });
    const text = await readText(response);
    if (response.status >= UNAVAILABLE) throw new Error(`it answered ${response.status}`);
    const { data, errors } = Answer.parse(JSON.parse(text));
    return { data: data ?? null, ...(errors && { errors: errors.map((error) => errorOf(service, error)) }) };
  };

const UNAVAILABLE = 500;

const headersFor = (
  { headers, forwardHeaders }: Service,
  facts: RequestFacts | undefined,
): Record<string, string> => {
  const forwarded = forwardHeaders.flatMap((name) => {
    const value = facts?.headers[name];
    return typeof value === 'string' ? [[name, value] as const] : [];
  });
  return {
    ...Object.fromEntries(forwarded),
    ...headers,
    'content-type': 'application/json',
    accept: 'application/graphql-response+json, application/json',
    ...(facts && { 'x-request-id': facts.requestId }),
    ...(facts?.trace !== undefined && { traceparent: facts.trace }),
  };
};

const readText = async (response: Response): Promise<string> => {
  const chunks: Uint8Array[] = [];
  let bytes = 0;
  for await (const chunk of response.body ?? []) {
    bytes += chunk.length;
    if (bytes > ANSWER_BYTES_MAX) throw new Error(`the response has more than ${ANSWER_BYTES_MAX} bytes`);
    chunks.push(chunk);
  }
  return Buffer.concat(chunks).toString('utf8');
};

/** Errors of a service reach our clients, with the name of the service. */
const errorOf = (
  { name }: Service,
  { message, path, extensions }: { message: string; path?: unknown; extensions?: unknown },
): GraphQLError =>
  new GraphQLError(message, {
    ...(Array.isArray(path) && { path }),
    extensions: {
      code: 'service_error',
      ...(typeof extensions === 'object' ? extensions : {}),
      service: name,
    },
  });
