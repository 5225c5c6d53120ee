import * as z from 'zod';
import type { LogIdentity } from '#kernel/base/brands.ts';
import { position } from '#kernel/base/events/fields.ts';
import { timestamp } from '#kernel/base/values.ts';
import { readClockReport } from '#shared/clock-drift/drift.ts';
import type { Pool } from '#shared/database/pool.ts';
import { ClockStatus } from '#shared/rest/clock-status.ts';
import { readNewestHeads, type SignedHead, signedHead } from '../stored/signed-head.ts';
import { type AuditKey, auditKey, canonical, readAuditKeys, type Signer } from '../stored/signing-keys.ts';
import { sourceOf } from './cloud-event.ts';

const digest = z.string().regex(/^[0-9a-f]{64}$/);
const place = z.strictObject({ count: z.int().nonnegative(), head: digest });
const file = z.strictObject({
  name: z.string().regex(/^[a-z0-9-]+\.jsonl$/),
  events: z.int().nonnegative(),
  bytes: z.int().nonnegative(),
  sha256: digest,
});

/** The description of an export; all of it but the signature is signed, in the form of RFC 8785. */
export const Manifest = z.strictObject({
  format: z.literal(1),
  log: z.guid() as unknown as z.ZodType<LogIdentity, string>,
  /** When the export was begun. */
  at: timestamp,
  /**
   * The events after one position up to another, which exists; and the heads of the chain before the first
   * and after the last.
   */
  after: position,
  upTo: position,
  count: z.int().nonnegative(),
  chain: z.strictObject({ before: place, after: place }),
  files: z.array(file),
  /** The persons’ keys, wrapped, if the export contains them. */
  persons: file.omit({ events: true }).extend({ keys: z.int().nonnegative() }).nullable(),
  /** The newest signed heads over more than the first and no more than the last of these events. */
  heads: z.array(signedHead),
  /** All signing keys so far, each endorsed by the one before it, and the key that signs this. */
  keys: z.array(auditKey),
  key: z.string(),
  /**
   * The clocks that gave the events their times: what synchronizes them, and the largest drift measured. Exports
   * of earlier releases lack it.
   */
  clock: ClockStatus.omit({ recent: true, latestWentBack: true }).exactOptional(),
});
export type Manifest = z.output<typeof Manifest>;
export type FileEntry = Manifest['files'][number];

export const SignedManifest = Manifest.extend({ signature: z.string() }).meta({ id: 'ExportManifest' });
export type SignedManifest = z.output<typeof SignedManifest>;

export const signManifest = (signer: Signer, unsigned: Omit<Manifest, 'key'>): SignedManifest => {
  const manifest: Manifest = { ...unsigned, key: signer.key };
  return { ...manifest, signature: signer.sign(canonical(manifest)) };
};

export const signedText = ({ signature: _, ...manifest }: SignedManifest): string => canonical(manifest);

/** The last line of an export that is one stream of lines: its only file is the lines before. */
const MANIFEST_TYPE = 'log.exported';

export const toManifestLine = (manifest: SignedManifest, id: string): string =>
  JSON.stringify({
    ...{ specversion: '1.0', id, source: sourceOf(manifest.log), type: MANIFEST_TYPE, time: manifest.at },
    ...{ datacontenttype: 'application/json', data: manifest },
  });

/** The state of the clocks at the end of an export. */
export const readClock = async (pool: Pool): Promise<NonNullable<Manifest['clock']>> => {
  const { source, since, measurements, largest, wentBack } = await readClockReport(pool);
  return { source, since, measurements, largest: [...largest], wentBack: wentBack.count };
};

const HEADS_MAX = 10;

/** The proof in any export of these events, to be compared with heads that were published before. */
export const readProof = async (
  pool: Pool,
  { log, after, upTo }: Pick<Manifest, 'log' | 'after' | 'upTo'>,
): Promise<{ readonly heads: SignedHead[]; readonly keys: AuditKey[] }> => {
  const [heads, keys] = await Promise.all([
    readNewestHeads(pool, { log, after, upTo, limit: HEADS_MAX }),
    readAuditKeys(pool),
  ]);
  return { heads: heads.map(({ statement, signature }) => ({ statement, signature })), keys: [...keys] };
};
