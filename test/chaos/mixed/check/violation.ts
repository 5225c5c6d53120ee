/** A violation, with its invariant. */
export type Violation = {
  readonly invariant: Invariant;
  readonly kind: 'lost' | 'duplicated' | 'reordered' | 'stale' | 'other';
  readonly what: string;
};

export type Invariant = keyof typeof INVARIANTS;

export const INVARIANTS = {
  I1: 'what was acknowledged is in the log exactly once',
  I2: 'the read model is what a replay of the log comes to',
  I3: 'every delivery is received or given up, under one id, with one body',
  I4: 'who follows hears everything once, in the order of the log',
  I5: 'checkpoints only grow, and never pass what was applied',
  I6: 'no process ends unasked, and memory is bounded',
  'read your writes': 'a read sees what its client was told is done',
  'monotonic reads': 'what somebody has seen, they see from then on',
} as const;
