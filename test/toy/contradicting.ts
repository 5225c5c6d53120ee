import { assemble } from '#kernel/assembly/assemble.ts';
import { domain } from '#kernel/declare/domain.ts';
import { line } from '#kernel/declare/fields.ts';

/** A domain that contradicts itself: two of its aggregates have one table. */
const { aggregate, ...base } = domain({ name: 'contradicting', roles: ['clerk'] });

const declared = {
  fields: { title: line(20) },
  events: { made: { creates: ['title'] } },
  commands: { make: { emits: 'made' } },
  rights: { read: { anyone: true } },
} as const;

export const contradicting = assemble(base, [
  aggregate('sheet', { ...declared, names: { plural: 'sheets' } }),
  aggregate('page', { ...declared, names: { plural: 'sheets' } }),
]);
