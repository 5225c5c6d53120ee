import type { Log } from '#shared/log.ts';
import { Counter, type Registry } from '#shared/prometheus.ts';
import type { RefusalRecorder } from './record-refusals.ts';

/** The end of a message: `done`, `repeated`, `ignored`, `refused`, or the code of a refusal. */
type Receipt = {
  readonly sender: string;
  readonly outcome: string;
  /** Of a refusal. */
  readonly code?: string | undefined;
  /** Of a verified message alone. */
  readonly messageId?: string | undefined;
  readonly messageType?: string | undefined;
  readonly reason?: string | undefined;
  readonly err?: unknown;
};

/** The request that brought the message, with what is known of its body. */
export type Arrival = {
  readonly requestId: string;
  readonly bytes: number | null;
  readonly sha256: string | null;
};

type Note = (receipt: Receipt, arrival: Arrival) => void;

type Dependencies = {
  readonly metrics: Registry;
  readonly log: Log;
  readonly recorder: Pick<RefusalRecorder, 'record'>;
};

const QUIET: ReadonlySet<string> = new Set(['done', 'repeated', 'ignored']);

/** Counts messages; logs and records each that is refused. */
export const noteReceipts = ({ metrics, log, recorder }: Dependencies): Note => {
  const messages = new Counter({
    name: 'annals_inbox_messages_total',
    help: 'Messages of senders, by sender and outcome: done, repeated, ignored, or the code of a refusal.',
    labelNames: ['sender', 'outcome'],
    registers: [metrics],
  });
  return (receipt, { requestId, bytes, sha256 }) => {
    const { sender, outcome, code = outcome, reason = code, messageId = null, messageType = null } = receipt;
    messages.inc({ sender, outcome });
    if (QUIET.has(outcome)) return;
    log.warn({ ...receipt, requestId }, 'The inbox refused a message.');
    recorder.record({ sender, code, reason, messageId, messageType, bytes, sha256, request: requestId });
  };
};
