import type { Read, Write } from './history.ts';

/** Takes down what the clients do, while they do it. */
export type Recorder = {
  readonly writes: Write[];
  readonly reads: Read[];
  /** Attempts that came to nothing and were made again, by what they came to. */
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
