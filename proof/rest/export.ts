import { createHash, randomUUID } from 'node:crypto';
import { once } from 'node:events';
import { type Request, type RequestHandler, type Response, Router } from 'express';
import type { LastingAccess } from '#edge/authenticate/resource-server.ts';
import type { Health } from '#edge/http/health.ts';
import { takeMore } from '#edge/http/limit-rate.ts';
import { demandPreferredType } from '#edge/http/media-type.ts';
import { parametersOf } from '#edge/http/parameters.ts';
import { demandRight } from '#edge/rest/admission.ts';
import type { Position } from '#kernel/base/brands.ts';
import { HttpProblem } from '#kernel/base/rest/http-problem.ts';
import type { Domain } from '#kernel/registry/registry.ts';
import type { Clock } from '#shared/clock/clock.ts';
import { type EventLog, START } from '#shared/event-log/event-log.ts';
import { readBetween } from '#shared/event-log/read-between.ts';
import type { Log } from '#shared/log.ts';
import { notingEvents } from '#shared/read-log/noted.ts';
import { AUDIT_OPERATIONS, EXPORT_TYPE, ExportRange } from '#shared/rest/audit.ts';
import { createTimes } from '../../query/events/times.ts';
import { positionOfCursor } from '../../query/rest/cursor-position.ts';
import type { Charge } from '../../query/rest/meter.ts';
import { agreesWithChain, chainAt, extendBy } from '../chain/chain-at.ts';
import { toLine } from '../export/cloud-event.ts';
import { readClock, readProof, signManifest, toManifestLine } from '../export/manifest.ts';
import { type AuditKeyDependencies, openSigner } from '../stored/signing-keys.ts';

type ExportDependencies = AuditKeyDependencies & {
  readonly domain: Pick<Domain, 'kinds'>;
  readonly eventLog: Pick<EventLog, 'identity' | 'eventAt' | 'head' | 'follow'>;
  readonly health: Pick<Health, 'onDrain'>;
  /** Re-checks whether the caller is still admitted. */
  readonly access: Pick<LastingAccess, 'refusalNow'>;
  readonly log: Log;
  readonly clock: Clock;
  readonly before: readonly RequestHandler[];
  readonly drainMaxMs?: number;
};

/** The maximum of concurrent exports: each reads the whole log at full speed. */
const AT_ONCE_MAX = 4;
/** A client that takes nothing for so long is disconnected, because it occupies a slot. */
const DRAIN_MAX_MS = 60_000;

/**
 * The log as lines of CloudEvents, as fast as the client takes them. The last line is the signed manifest;
 * without it, the export is incomplete.
 */
export const exportRoutes = ({ before, ...dependencies }: ExportDependencies): Router => {
  const stopping = new AbortController();
  dependencies.health.onDrain(() => stopping.abort());
  let running = 0;
  return Router().get(
    AUDIT_OPERATIONS.exportLog.path,
    demandAuditor,
    ...before,
    async (request, response) => {
      // Before looking for the range: finding a time reads much.
      if (running >= AT_ONCE_MAX) throw new HttpProblem('too_many_streams');
      running += 1;
      try {
        await answer(dependencies, { request, response, signal: stopping.signal });
      } finally {
        running -= 1;
      }
    },
  );
};

const answer = async (
  dependencies: Omit<ExportDependencies, 'before'>,
  { request, response, signal }: Sending,
): Promise<void> => {
  const range = await rangeOf(dependencies, request, (units) => takeMore(request, response, units));
  response
    .set({ 'Content-Type': EXPORT_TYPE, 'Cache-Control': 'no-store', 'X-Accel-Buffering': 'no' })
    .vary('Authorization');
  if (request.method === 'HEAD') return void response.end();
  const left = new AbortController();
  response.on('close', () => left.abort());
  response.flushHeaders();
  try {
    await send(dependencies, { request, response, signal: AbortSignal.any([signal, left.signal]) }, range);
  } catch (err) {
    dependencies.log.error({ err }, 'An export over HTTP failed.');
    response.destroy();
  }
};

const MEDIA_TYPES = [EXPORT_TYPE] as const;

const demandAuditor: RequestHandler = (request, _response, next) => {
  demandRight(request, AUDIT_OPERATIONS.exportLog);
  demandPreferredType(request, MEDIA_TYPES);
  next();
};

type Range = { readonly after: Position; readonly upTo: Position };

const rangeOf = async (
  dependencies: ExportDependencies | Omit<ExportDependencies, 'before'>,
  request: Request,
  charge: Charge,
): Promise<Range> => {
  const { eventLog } = dependencies;
  const { after, since, until } = parametersOf(ExportRange, request.query);
  const times = createTimes(dependencies);
  const place =
    after === undefined
      ? START
      : await positionOfCursor(after, { eventLog, known: START, parameter: 'after' });
  const start = await times.further(place, since, charge);
  const end = until === undefined ? await eventLog.head() : await times.end(until, charge);
  return { after: start, upTo: end > start ? end : start };
};

type Sending = { readonly request: Request; readonly response: Response; readonly signal: AbortSignal };

/** An error after the first line closes the connection: the client sees that the last line is missing. */
const send = async (
  dependencies: Omit<ExportDependencies, 'before'>,
  { request, response, signal }: Sending,
  range: Range,
): Promise<void> => {
  const { pool, eventLog, access, log, clock, drainMaxMs = DRAIN_MAX_MS } = dependencies;
  const { identity } = eventLog;
  const begun = { at: new Date(clock.nowMs()).toISOString(), signer: await openSigner(dependencies) };
  const before = await chainAt(dependencies, range.after);
  const proof = await readProof(pool, { log: identity, ...range });
  const noteAll = notingEvents(dependencies.domain);
  const hash = createHash('sha256');
  let place = before;
  let bytes = 0;
  for await (const events of readBetween(eventLog, range, signal)) {
    if (access.refusalNow(request) !== undefined) break;
    const text = Buffer.from(events.map((event) => `${toLine(identity, event)}\n`).join(''));
    for (const event of events) place = extendBy(place, event);
    noteAll(events);
    hash.update(text);
    bytes += text.length;
    if (response.write(text)) continue;
    await once(response, 'drain', {
      signal: AbortSignal.any([signal, AbortSignal.timeout(drainMaxMs)]),
    }).catch(() => response.destroy());
    if (response.destroyed) return;
  }
  const count = place.count - before.count;
  const isWhole = range.after === range.upTo || (!signal.aborted && access.refusalNow(request) === undefined);
  if (!isWhole || !(await agreesWithChain(pool, place))) {
    if (isWhole)
      log.error(
        { count: place.count },
        'The events in the log differ from those in the chain; nothing was signed.',
      );
    response.destroy();
    return;
  }
  const json = ({ count: events, head }: typeof place) => ({ count: events, head: head.toString('hex') });
  const manifest = signManifest(begun.signer, {
    ...{
      format: 1,
      log: identity,
      at: begun.at,
      ...range,
      count,
      chain: { before: json(before), after: json(place) },
    },
    files: [{ name: 'export.jsonl', events: count, bytes, sha256: hash.digest('hex') }],
    ...{ persons: null, ...proof, clock: await readClock(pool) },
  });
  response.end(`${toManifestLine(manifest, randomUUID())}\n`);
};
