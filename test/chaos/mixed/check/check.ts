import type { History } from '../history.ts';
import { appendViolations } from './appends.ts';
import { checkpointViolations } from './checkpoints.ts';
import { deliveryViolations } from './deliveries.ts';
import { feedViolations } from './feeds.ts';
import { processViolations } from './processes.ts';
import { readViolations } from './reads.ts';
import type { Violation } from './violation.ts';

/** All violations, judged only by the records of the run. */
export const check = (history: History): readonly Violation[] => [
  ...appendViolations(history),
  ...proofViolations(history),
  ...history.deliveries.flatMap(deliveryViolations),
  ...history.feeds.flatMap(feedViolations),
  ...checkpointViolations(history),
  ...processViolations(history),
  ...readViolations(history),
];

/** I2: a fresh replay of the log, compared digest by digest. */
const proofViolations = ({ proof: { exit, said } }: Pick<History, 'proof'>): readonly Violation[] =>
  exit === 0
    ? []
    : [{ invariant: 'I2', kind: 'other', what: `annals audit verify ended with ${exit}: ${said}` }];
