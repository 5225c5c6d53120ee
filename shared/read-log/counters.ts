import { Counter, type Registry } from '#shared/prometheus.ts';

/** Several readers of one process, as in tests, share them. */
export const countersIn = (registry: Registry): { readonly recorded: Counter; readonly lost: Counter } => {
  const counter = (name: string, help: string): Counter =>
    (registry.getSingleMetric(name) as Counter | undefined) ??
    new Counter({ name, help, registers: [registry] });
  return {
    recorded: counter(
      'annals_read_log_entries_total',
      'Entries of the log of reads that this process has written.',
    ),
    lost: counter(
      'annals_read_log_missing_total',
      'Answers that were served without an entry in the log of reads, because it could not be written.',
    ),
  };
};
