import { Readable } from 'node:stream';
import {
  createMcpHandler,
  type McpRequestContext,
  ProtocolError,
  ProtocolErrorCode,
  Server,
} from '@modelcontextprotocol/server';
import {
  type Request as ExpressRequest,
  type Response as ExpressResponse,
  type RequestHandler,
  Router,
} from 'express';
import { callerOf } from '#edge/authenticate/authenticate.ts';
import { refuseOtherMethods } from '#edge/http/answer-errors.ts';
import type { CorsOrigins } from '#edge/http/cors.ts';
import { readJsonBody } from '#edge/http/json-body.ts';
import { mayAsk } from '#edge/rest/admission.ts';
import type { Json, JsonObject } from '#kernel/base/json.ts';
import { spaced } from '#kernel/base/names.ts';
import { Rejection } from '#kernel/base/rejection.ts';
import { HttpProblem } from '#kernel/base/rest/http-problem.ts';
import { serves } from '#kernel/registry/parts.ts';
import type { Domain } from '#kernel/registry/registry.ts';
import packageJson from '../package.json' with { type: 'json' };
import type { OpenApiOptions } from '../query/openapi/document.ts';
import { call } from './call.ts';
import { nextStepsBy } from './next-steps.ts';
import { addResources } from './resources.ts';
import { type ToolMap, toolMapOf } from './tool-map.ts';
import { type Tool, toolsOf } from './tools.ts';

type Options = OpenApiOptions & {
  readonly bodyBytesMax: number;
  readonly headerBytesMax: number;
  readonly corsOrigins?: CorsOrigins | undefined;
};

/** `POST /mcp`: the tools of the caller, by the Model Context Protocol, without sessions. */
export const serveTools = (options: Options): RequestHandler => {
  const tools = toolsOf(options);
  const find = toolMapOf(tools);
  const handler = createMcpHandler((context) => serverFor(options, { tools, find }, context), {
    maxSubscriptions: 0,
  });
  const answer: RequestHandler = async (request, response) => {
    demandOrigin(request, options);
    const caller = callerOf(request);
    // So that clients learn where to sign in; only users have tools.
    if (caller.kind !== 'user') throw new Rejection('unauthenticated');
    // No revision that we offer has batches, and one would cost no more than a single call.
    if (Array.isArray(request.body))
      throw new HttpProblem('malformed_request', { detail: 'Send one message at a time, not an array.' });
    const authInfo = {
      token: '',
      clientId: caller.client ?? '',
      scopes: [...caller.scopes],
      extra: { request },
    };
    const gone = new AbortController();
    response.once('close', () => gone.abort());
    const asked = webRequest(request, gone.signal);
    send(await handler.fetch(asked, { authInfo, parsedBody: request.body }), response, gone.signal);
  };
  return Router()
    .post('/mcp', ...readJsonBody(options.bodyBytesMax), answer)
    .all('/mcp', refuseOtherMethods('POST'));
};

/**
 * The protocol demands it of every server, whatever a page could do without a token. If any page may read answers, as
 * in development, those of this machine may: a name that leads here from elsewhere (DNS rebinding) is no such page.
 */
const demandOrigin = ({ headers: { origin } }: ExpressRequest, { publicUrl, corsOrigins }: Options): void => {
  if (origin === undefined || origin === new URL(publicUrl).origin) return;
  const isAllowed = corsOrigins === 'any' ? isOfThisMachine(origin) : corsOrigins?.has(origin) === true;
  if (!isAllowed) throw new Rejection('forbidden');
};

const isOfThisMachine = (origin: string): boolean => LOOPBACKS.has(URL.parse(origin)?.hostname ?? '');
const LOOPBACKS: ReadonlySet<string> = new Set(['localhost', '127.0.0.1', '[::1]']);

const serverFor = (
  { domain, publicUrl, headerBytesMax }: Options,
  { tools, find }: { readonly tools: readonly Tool[]; readonly find: ToolMap },
  { authInfo }: McpRequestContext,
): Server => {
  const request = authInfo?.extra?.request as ExpressRequest;
  const caller = callerOf(request);
  const own = tools.filter(({ operation }) => mayAsk(caller, operation));
  const means = {
    nextSteps: nextStepsBy(find, new Set(own)),
    headerBytesMax,
    pageOf: (path: string) =>
      serves(domain, 'console') ? new URL(`/console/data${path}`, publicUrl).href : undefined,
  };
  const server = new Server(
    { name: 'annals', title: domain.name, version: packageJson.version, websiteUrl: publicUrl },
    { capabilities: { tools: {}, resources: {} }, instructions: instructionsOf(domain) },
  );
  server.setRequestHandler('tools/list', () => ({
    tools: own.map(({ name, title, description, inputSchema, operation }) => ({
      ...{ name, title, description, annotations: hintsOf(operation) },
      inputSchema: inputSchema as never,
    })),
  }));
  server.setRequestHandler('tools/call', async ({ params }, { mcpReq }) => {
    const tool = own.find(({ name }) => name === params.name);
    if (tool === undefined)
      throw new ProtocolError(
        ProtocolErrorCode.InvalidParams,
        `There is no tool ${params.name} that you may use.`,
      );
    const given = (params.arguments ?? {}) as JsonObject;
    const meta = mcpReq._meta ?? {};
    const asked = { tool, given, key: meta[KEY] as Json | undefined, traceparent: textIn(meta.traceparent) };
    const { isRefused, content } = await call(request, { ...asked, signal: mcpReq.signal }, means);
    return {
      content: [{ type: 'text', text: JSON.stringify(content) }],
      structuredContent: content,
      ...(isRefused && { isError: true }),
    };
  });
  addResources(server, { request, publicUrl, tools: own, find, means });
  return server;
};

/** The name of the idempotency key in `_meta` of a call. */
const KEY = 'annals/idempotency-key';

const instructionsOf = (domain: Domain): string =>
  `
Each tool is an operation that the signed-in user may use, and each change is recorded with the user and this client.
Read an item before you change it, and send its \`etag\` with the change: if it has changed since, nothing happens.
\`next\` beside an item has the tools that the user may use on it now, with their arguments. Each entry of a list is such an item, with its \`next\`. \`more\` of a list has the argument for the next page.
A refusal says in \`title\` and \`detail\` what is wrong, and in \`errors\` which argument: correct it, or tell the user. Do not look for another way around a right that the user lacks.

${Object.values(domain.kinds)
  .map(({ plural, says }) => `- ${spaced(plural)}${says === undefined ? '' : `: ${says}`}`)
  .join('\n')}
`.trim();

const hintsOf = ({ method, answer }: Tool['operation']) => ({
  readOnlyHint: method === 'GET',
  // An addition destroys nothing.
  destructiveHint: method !== 'GET' && answer.status !== 201,
  idempotentHint: method === 'PUT' || method === 'DELETE',
  openWorldHint: false,
});

const textIn = (value: unknown): string | undefined => (typeof value === 'string' ? value : undefined);

/** Without its body, which was read and checked. */
const webRequest = ({ headers }: ExpressRequest, signal: AbortSignal): Request =>
  new Request('http://localhost/mcp', {
    method: 'POST',
    signal,
    headers: Object.entries(headers).flatMap(([name, value]) =>
      typeof value === 'string' && !KEPT_BACK.has(name) ? [[name, value] as [string, string]] : [],
    ),
  });

/** Headers about the body or the connection, or with a secret. */
const KEPT_BACK = new Set(['authorization', 'connection', 'content-length', 'transfer-encoding']);

const send = (answer: Response, response: ExpressResponse, signal: AbortSignal): void => {
  response.status(answer.status).set('Cache-Control', 'no-store');
  for (const [name, value] of answer.headers) if (name !== 'connection') response.setHeader(name, value);
  if (answer.body === null) return void response.end();
  // A client that leaves also cancels the call. A `pipeline` would add more listeners than Node expects.
  Readable.fromWeb(answer.body as never, { signal })
    .on('error', () => response.destroy())
    .pipe(response);
};
