import type { EventLog } from '#shared/event-log/event-log.ts';
import { checkTree as findIn, type TreeCheckOptions } from '../chain/check-tree.ts';
import { type ChainFinding, Findings } from '../chain/findings.ts';
import { readChainEnd } from '../stored/blocks.ts';
import type { Difference } from '../stored/watch.ts';

type TreeDependencies = Pick<TreeCheckOptions, 'pool' | 'masterKey' | 'auditDir'> & {
  readonly eventLog: Pick<EventLog, 'identity' | 'head'>;
};

/**
 * Compares the tree with the chain, in the form of the watch. After a restore of the database alone the chain
 * grows until it has what the head outside covers: until then nothing is compared.
 */
export const checkTree = async ({
  eventLog,
  ...options
}: TreeDependencies): Promise<readonly Difference[]> => {
  const head = await eventLog.head();
  if ((await readChainEnd(options.pool)).position < head) return [];
  const findings = new Findings();
  await findIn({ ...options, log: eventLog.identity }, findings);
  return findings.listed.map(differenceOf);
};

const differenceOf = (finding: ChainFinding): Difference => ({
  ...{ kind: finding.kind, stream: null, version: null, position: null },
  fields: 'level' in finding ? [`${finding.level}/${finding.index}`] : 'why' in finding ? [finding.why] : [],
});
