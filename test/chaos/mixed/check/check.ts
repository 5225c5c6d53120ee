import type { History } from '../history.ts';
import { appendViolations } from './appends.ts';
import { checkpointViolations } from './checkpoints.ts';
import { consequenceViolations } from './consequences.ts';
import { contentFaults, readContentViolations, recordedIn } from './contents.ts';
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
  ...violationsOfContents(history),
  ...readContentViolations(history),
  ...consequenceViolations(history),
  ...checkpointViolations(history),
  ...processViolations(history),
  ...readViolations(history),
];

/** Compares the contents of messages and callbacks with the log. */
const violationsOfContents = ({ log, feeds, deliveries }: History): readonly Violation[] => {
  const recorded = recordedIn(log);
  const faults = [
    ...feeds.flatMap(({ name, contents }) =>
      contents.flatMap((content) =>
        contentFaults(recorded, content, true).map((fault) => `${name}: ${fault}`),
      ),
    ),
    ...deliveries.flatMap(({ name, received }) =>
      received.flatMap(({ content }) =>
        // A thin delivery has the ids alone.
        contentFaults(recorded, content, false).map((fault) => `${name}: ${fault}`),
      ),
    ),
  ];
  return faults.map((what) => ({ invariant: 'contents', kind: 'other', what }));
};

/** I2: a fresh replay of the log, compared digest by digest. */
const proofViolations = ({ proof: { exit, said } }: Pick<History, 'proof'>): readonly Violation[] =>
  exit === 0
    ? []
    : [{ invariant: 'I2', kind: 'other', what: `annals audit verify ended with ${exit}: ${said}` }];
