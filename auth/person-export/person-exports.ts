import { once } from 'node:events';
import type { Response } from 'express';
import type { UserId } from '#kernel/base/brands.ts';
import { logsReads } from '#kernel/registry/logs-reads.ts';
import type { Domain } from '#kernel/registry/registry.ts';
import type { Clock } from '#shared/clock/clock.ts';
import type { Log } from '#shared/log.ts';
import type { PersonExportDependencies } from '#shared/person-export/section.ts';
import { sectionsOf } from '#shared/person-export/sections.ts';
import { type Format, fileNameOf, typeOf, writeExport } from '#shared/person-export/write.ts';
import type { Allowance, Attempts } from '../accounts/attempts.ts';
import { type NotifyDependencies, notifyOfChange } from '../mail/notify-of-change.ts';
import type { RecordSecurityEvent, SecurityContext } from '../security/security-log.ts';

type Dependencies = PersonExportDependencies &
  NotifyDependencies & {
    readonly domain: Domain;
    readonly clock: Clock;
    readonly attempts: Attempts;
    /** Fails if the log does not take the event: then there is no export. */
    readonly recordOrFail: RecordSecurityEvent;
    readonly log: Pick<Log, 'error'>;
    readonly drainMaxMs?: number;
  };

type Asked = {
  readonly userId: UserId;
  readonly format: Format;
  readonly by: SecurityContext;
  readonly response: Response;
};

type Outcome = { readonly isDone: true } | { readonly isDone: false; readonly waitMs: number };

/** Sends everything about a person as a file. Nothing of it is stored, so nothing has to expire. */
export type PersonExports = {
  /** `waitMs`: there were too many. Otherwise the response has begun, and ends with the file or is cut off. */
  send(asked: Asked): Promise<Outcome>;
};

/** A person needs few; each reads much of the log. */
const PER_ASKER: Allowance = { name: 'person export', burst: 5, intervalMs: 600_000 };
/** An export that is read so slowly occupies the only slot of this process. */
const EXPORT_MAX_MS = 1_800_000;
const DRAIN_MAX_MS = 60_000;
const BUSY_MS = 10_000;
const PIECE_CHARACTERS_MIN = 16_384;

const NOTICE =
  'Everything that is stored about you was requested as a file. If neither you nor an administrator whom you asked did this, change your password and end all sessions.';

export const createPersonExports = (dependencies: Dependencies): PersonExports => {
  const { attempts, recordOrFail } = dependencies;
  // There is no queue, because requests would stay in it whose clients have left.
  let isRunning = false;
  return {
    async send({ userId, format, by, response }) {
      if (isRunning) return { isDone: false, waitMs: BUSY_MS };
      isRunning = true;
      try {
        const taken = await attempts.take(PER_ASKER, `${by.actor} ${userId}`);
        if (!taken.granted) return { isDone: false, waitMs: taken.waitMs };
        await recordRead(dependencies, format, by);
        await recordOrFail({ type: 'account.data_exported', data: { userId, format } }, by);
        notifyOfChange(dependencies, { userId }, NOTICE, 'Your data was requested');
        await stream(dependencies, { userId, format, by, response });
        return { isDone: true };
      } finally {
        isRunning = false;
      }
    },
  };
};

/** It shows items, also to administrators and applications. */
const recordRead = async (
  { domain, pool, clock }: Dependencies,
  format: Format,
  { actor, client, requestId }: SecurityContext,
): Promise<void> => {
  if (!logsReads(domain)) return;
  const { recordWhole } = await import('#shared/read-log/record-whole.ts');
  const reader = /^user:(\d+)$/.exec(actor)?.[1];
  await recordWhole(
    { domain, pool, at: new Date(clock.nowMs()).toISOString() },
    {
      ...{ actor, reader: reader === undefined ? null : Number(reader), client },
      via: 'rest',
      ...{ operation: 'account export', query: { format }, request: requestId },
    },
  );
};

const stream = async (dependencies: Dependencies, { userId, format, by, response }: Asked): Promise<void> => {
  const { clock, domain, log, drainMaxMs = DRAIN_MAX_MS } = dependencies;
  const at = new Date(clock.nowMs()).toISOString();
  const left = new AbortController();
  response.on('close', () => left.abort());
  const signal = AbortSignal.any([left.signal, AbortSignal.timeout(EXPORT_MAX_MS)]);
  response.status(200).set({
    'Content-Type': typeOf(format),
    'Content-Disposition': `attachment; filename="${fileNameOf({ userId, at }, format)}"`,
    'Content-Security-Policy': "default-src 'none'; style-src 'unsafe-inline'; sandbox",
    'X-Content-Type-Options': 'nosniff',
    'Cache-Control': 'no-store',
    'X-Accel-Buffering': 'no',
  });
  const heading = { userId, at, by: by.actor, domain: domain.name };
  try {
    for await (const text of inParts(
      writeExport(format, heading, sectionsOf(dependencies, userId, signal)),
    )) {
      signal.throwIfAborted();
      if (response.write(text)) continue;
      await once(response, 'drain', { signal: AbortSignal.any([signal, AbortSignal.timeout(drainMaxMs)]) });
    }
    response.end();
  } catch (err) {
    if (!left.signal.aborted) log.error({ err }, 'An export of a person failed.');
    // Without its end, the client sees that it is incomplete.
    response.destroy();
  }
};

/** Joins small pieces: a record is shorter than a packet. */
async function* inParts(pieces: AsyncIterable<string>): AsyncGenerator<string> {
  let joined = '';
  for await (const piece of pieces) {
    joined += piece;
    if (joined.length < PIECE_CHARACTERS_MIN) continue;
    yield joined;
    joined = '';
  }
  if (joined !== '') yield joined;
}
