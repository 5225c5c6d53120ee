import { alsoOf } from '#kernel/decide/elsewhere.ts';
import { readsOf } from '#kernel/decide/reads.ts';
import type { CommandInfo, Kind } from '#kernel/registry/registry.ts';
import type { Imported } from './known-keys.ts';
import type { ImportLine, Name } from './line.ts';

export type Subjects = readonly [target: string, ...named: readonly string[]];

/** Names each aggregate alike, however lines name it, so that lines about one can wait for each other. */
export const createSubjects = (keys: ReadonlyMap<string, Imported>): ((line: ImportLine) => Subjects) => {
  const byKey = new Map<string, string>();
  const byId = new Map<number, string>();
  for (const [key, { id }] of keys) {
    const subject = byId.get(id) ?? key;
    byKey.set(key, subject);
    byId.set(id, subject);
  }
  const subjectOf = (name: Name): string =>
    typeof name === 'string' ? (byKey.get(name) ?? name) : (byId.get(name) ?? `#${name}`);
  return ({ key, of, actor, item, form }) => {
    const target = subjectOf(of ?? key);
    byKey.set(key, target);
    const named = [actor, item, ...Object.values(form)].flatMap((value) =>
      typeof value === 'string' || typeof value === 'number' ? [subjectOf(value)] : [],
    );
    return [target, ...named];
  };
};

/**
 * Whether other lines must not be under way meanwhile: the command reads or changes other aggregates, or
 * claims a place of a limit.
 */
export const isAlone = (kind: Kind, command: CommandInfo): boolean =>
  kind.limits.length > 0 || readsOf(kind, command).length > 0 || alsoOf(kind, command).length > 0;
