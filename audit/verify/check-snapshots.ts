import { isDeepStrictEqual } from 'node:util';
import { evolveOf } from '#kernel/decide/evolve.ts';
import { foldDefinitionOf } from '#kernel/decide/fold-definition.ts';
import { ABSENT, type AggregateState } from '#kernel/decide/state.ts';
import type { Kind } from '#kernel/registry/registry.ts';
import type { StreamName } from '#shared/brands.ts';
import { migrateSnapshots, type Snapshot } from '#shared/snapshots/snapshots.ts';
import type { Proving } from './proving.ts';

/**
 * Commands decide on snapshots of long streams, so that each is compared with a fold from the first event. One that does not open is not compared: nobody
 * uses it.
 */
export const checkSnapshots = async (proving: Proving): Promise<void> => {
  const { pool, tables, snapshots, signal } = proving.verification;
  await migrateSnapshots(pool);
  const { rows } = await pool.query<{ stream: StreamName }>('select stream from snapshots.state order by stream');
  for (const { stream } of rows) {
    signal.throwIfAborted();
    const kind = tables.rowOf(stream)?.table.aggregate;
    const snapshot = kind && (await snapshots.find(stream, foldDefinitionOf(kind)));
    if (!kind || !snapshot || snapshot.position > proving.passage.position()) continue;
    const state = await foldUpTo(proving, kind, snapshot);
    if (state === undefined || isDeepStrictEqual(JSON.parse(JSON.stringify(state)), snapshot.state)) continue;
    const { version, position } = snapshot;
    proving.findings.add({ kind: 'snapshot_different', stream, version, position });
  }
};

/** Nothing where the log has another event there, as after it went back, or one that is damaged, which is found by itself. */
const foldUpTo = async (
  { verification: { eventLog, codec } }: Proving,
  kind: Kind,
  { stream, version, event }: Snapshot,
): Promise<AggregateState | undefined> => {
  const evolve = evolveOf(kind);
  let state: AggregateState = ABSENT;
  for await (const page of eventLog.read(stream)) {
    const before = page.filter((each) => each.version <= version);
    const decoded = await codec.decodeAll(before).catch(() => undefined);
    if (decoded === undefined) return undefined;
    for (const each of decoded) state = evolve(state, each as never);
    if (before.at(-1)?.version === version) return before.at(-1)?.id === event ? state : undefined;
  }
  return undefined;
};
