import { pino } from 'pino';
import { createMetrics } from '#process/observability/metrics.ts';
import { readPublicHeads } from '../../proof/cosign/public-heads.ts';
import { startWitnesses } from '../../proof/cosign/service.ts';
import { readWitnesses } from '../../proof/cosign/witness-rows.ts';
import { openSigner } from '../../proof/stored/signing-keys.ts';
import { verifierKeyOf } from '../../proof/tree/note.ts';
import { noteKeyOf } from '../../proof/tree/note-key.ts';
import { originOf } from '../../proof/tree/tree-head.ts';
import type { AuditedLog } from './audited-log.ts';

type Line = { readonly level: number; readonly msg: string; readonly problem?: string };

/** The log as it has its heads cosigned. */
export const witnessedSide = async (
  audited: Pick<AuditedLog, 'pool' | 'eventLog' | 'masterKey' | 'clock' | 'startChain'>,
) => {
  const { pool, eventLog, clock } = audited;
  const { publicKey } = await openSigner(audited);
  const lines: Line[] = [];
  const log = pino({ level: 'info' }, { write: (line) => void lines.push(JSON.parse(line)) });
  const origin = originOf(eventLog.identity);
  return {
    origin,
    vkey: verifierKeyOf(noteKeyOf(publicKey, eventLog.identity)),
    /** The lines of the log that are at least warnings. */
    complaints: () => lines.filter(({ level }) => level >= 40),
    heads: () => readPublicHeads(pool),
    rows: () => readWitnesses(pool, origin),
    /** Grows the tree, and offers its heads to the witnesses of the policy. */
    async start(policy: string) {
      await using opening = new AsyncDisposableStack();
      const metrics = createMetrics();
      const witnesses = opening.use(
        await startWitnesses({ ...audited, pool, clock, log, metrics, setting: `${policy}\n` }),
      );
      opening.use(await audited.startChain((note) => witnesses.offer(note)));
      const resources = opening.move();
      return { metrics, [Symbol.asyncDispose]: () => resources.disposeAsync() };
    },
  };
};
