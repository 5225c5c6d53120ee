import { once } from 'node:events';
import { type Request, type RequestHandler, type Response, Router } from 'express';
import { callerOf } from '#edge/authenticate/authenticate.ts';
import type { LastingAccess } from '#edge/authenticate/resource-server.ts';
import type { Health } from '#edge/http/health.ts';
import { takeMore } from '#edge/http/limit-rate.ts';
import { demandPreferredType } from '#edge/http/media-type.ts';
import { parametersOf } from '#edge/http/parameters.ts';
import { demandRight } from '#edge/rest/admission.ts';
import { ItemAt } from '#kernel/base/rest/at.ts';
import { HttpProblem } from '#kernel/base/rest/http-problem.ts';
import { USER_PROOF_OPERATIONS, WEBHOOK_PROOF_OPERATIONS } from '#kernel/base/rest/item-proof-operations.ts';
import { type RestOperation, routeOf } from '#kernel/base/rest/operation.ts';
import { serves } from '#kernel/registry/parts.ts';
import type { Domain } from '#kernel/registry/registry.ts';
import type { Log } from '#shared/log.ts';
import { EXPORT_TYPE } from '#shared/rest/audit.ts';
import { ofAggregates } from '#shared/rest/operations.ts';
import { createItemProofs, type ItemProofDependencies } from './item-proof.ts';

type Dependencies = ItemProofDependencies & {
  readonly health: Pick<Health, 'onDrain'>;
  readonly access: Pick<LastingAccess, 'refusalNow'>;
  readonly log: Log;
  readonly before: readonly RequestHandler[];
};

/** The maximum of concurrent proofs: a long one reads a whole stream, and as long as its client takes it. */
const AT_ONCE_MAX = 16;
/** A client that takes nothing for so long is disconnected. */
const DRAIN_MAX_MS = 60_000;
const MEDIA_TYPES = [EXPORT_TYPE] as const;

/** `GET /{collection}/{id}/proof` of all kinds: a file in lines, sent as it is made. */
export const itemProofRoutes = ({ before, ...dependencies }: Dependencies): Router => {
  const { domain, health } = dependencies;
  const prove = createItemProofs(dependencies);
  const stopping = new AbortController();
  health.onDrain(() => stopping.abort());
  const router = Router();
  let running = 0;
  for (const [kind, operation] of proofsIn(domain)) {
    const demand: RequestHandler = (request, _response, next) => {
      demandRight(request, operation);
      demandPreferredType(request, MEDIA_TYPES);
      next();
    };
    router.get(routeOf(operation), demand, ...before, async (request, response) => {
      if (running >= AT_ONCE_MAX) throw new HttpProblem('too_many_streams');
      running += 1;
      try {
        const { at } = parametersOf(ItemAt, request.query);
        const charge = (units: number) => takeMore(request, response, units);
        const [id = ''] = Object.values(request.params).map(String);
        const lines = await prove(kind, { caller: callerOf(request), id, charge }, at);
        await send({ ...dependencies, signal: stopping.signal }, { request, response }, lines);
      } finally {
        running -= 1;
      }
    });
  }
  return router;
};

const proofsIn = (domain: Domain): readonly (readonly [kind: string, operation: RestOperation])[] => [
  ...ofAggregates(domain).flatMap(([, operation]) =>
    operation.use.does === 'proof' ? [[operation.use.kind.name, operation] as const] : [],
  ),
  ['user', USER_PROOF_OPERATIONS.getUserProof],
  ...(serves(domain, 'webhooks') ? [['webhook', WEBHOOK_PROOF_OPERATIONS.getWebhookProof] as const] : []),
];

type Sending = { readonly request: Request; readonly response: Response };

/** An error after the first line closes the connection: the file lacks its last line. */
const send = async (
  { access, log, signal }: Pick<Dependencies, 'access' | 'log'> & { readonly signal: AbortSignal },
  { request, response }: Sending,
  lines: AsyncGenerator<string>,
): Promise<void> => {
  response
    .set({ 'Content-Type': EXPORT_TYPE, 'Cache-Control': 'no-store', 'X-Accel-Buffering': 'no' })
    .vary('Authorization');
  if (request.method === 'HEAD') {
    await lines.return(undefined);
    return void response.end();
  }
  const left = new AbortController();
  response.on('close', () => left.abort());
  const ended = AbortSignal.any([signal, left.signal]);
  try {
    for await (const text of lines) {
      if (ended.aborted || access.refusalNow(request) !== undefined) return void response.destroy();
      if (response.write(text)) continue;
      await once(response, 'drain', {
        signal: AbortSignal.any([ended, AbortSignal.timeout(DRAIN_MAX_MS)]),
      }).catch(() => response.destroy());
    }
    response.end();
  } catch (err) {
    log.error({ err }, 'A proof of an item failed after its first line.');
    response.destroy();
  }
};
