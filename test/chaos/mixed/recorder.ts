import type { Read, Write } from './history.ts';

/** Records the operations of the clients as they happen. */
export type Recorder = {
  readonly writes: Write[];
  readonly reads: Read[];
  /** Failed attempts that were retried, by result. */
  readonly failures: Map<string, number>;
  failed(why: string): void;
  attempted(): void;
  attempts(): number;
};

export const createRecorder = (): Recorder => {
  const failures = new Map<string, number>();
  let attempts = 0;
  return {
    writes: [],
    reads: [],
    failures,
    failed: (why) => void failures.set(why, (failures.get(why) ?? 0) + 1),
    attempted: () => {
      attempts += 1;
    },
    attempts: () => attempts,
  };
};
