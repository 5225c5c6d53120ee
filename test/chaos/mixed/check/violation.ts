export type Violation = {
  readonly invariant: Invariant;
  readonly kind: 'lost' | 'duplicated' | 'reordered' | 'stale' | 'other';
  readonly what: string;
};

export type Invariant = keyof typeof INVARIANTS;

export const INVARIANTS = {
  I1: 'every acknowledged write is in the log exactly once, with its contents',
  contents: 'what was read, told or delivered of an event is what the log has of it',
  consequences: 'what follows from an event happens once, and nothing else does',
  I2: 'the read model equals a replay of the log',
  I3: 'every delivery is received or a dead letter, with one id and one body',
  I4: 'every subscriber receives every event once, in the order of the log',
  I5: 'checkpoints only grow, and never pass what was applied',
  I6: 'no process ends without a signal, and memory is bounded',
  'read your writes': 'a read shows the acknowledged writes of its client',
  'monotonic reads': 'a client never reads an older state than before',
} as const;
