import { Counter, type Registry } from 'prom-client';
import type { Log } from '#shared/log.ts';

/** The end of a message: `done`, `repeated`, `ignored`, `refused`, or the code of a refusal. */
type Receipt = {
  readonly sender: string;
  readonly outcome: string;
  /** Of a verified message alone. */
  readonly messageId?: string | undefined;
  readonly messageType?: string | undefined;
  readonly reason?: string | undefined;
  readonly err?: unknown;
};

type Note = (receipt: Receipt, request: { readonly requestId: string }) => void;

const QUIET: ReadonlySet<string> = new Set(['done', 'repeated', 'ignored']);

/** Counts messages, and logs each that is refused. */
export const noteReceipts = ({ metrics, log }: { readonly metrics: Registry; readonly log: Log }): Note => {
  const messages = new Counter({
    name: 'annals_inbox_messages_total',
    help: 'Messages of senders, by sender and outcome: done, repeated, ignored, or the code of a refusal.',
    labelNames: ['sender', 'outcome'],
    registers: [metrics],
  });
  return (receipt, request) => {
    const { sender, outcome } = receipt;
    messages.inc({ sender, outcome });
    if (!QUIET.has(outcome)) log.warn({ ...receipt, ...request }, 'The inbox refused a message.');
  };
};
