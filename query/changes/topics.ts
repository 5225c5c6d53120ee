import { parentKeysOf } from '#kernel/registry/event-references.ts';
import type { Domain } from '#kernel/registry/registry.ts';
import type { Change } from '#shared/change-stream/change-stream.ts';

/**
 * A topic to index changes by: all of them, a type (`type:article.published`), an aggregate (`article:5`), or
 * the children of one (`comments:5`).
 */
export type Topic = 'all' | `${string}:${string | number}`;

export type TopicsOf = (change: Pick<Change, 'type' | 'stream' | 'data'>) => readonly Topic[];

export const createTopicsOf = (domain: Domain): TopicsOf => {
  const kinds = new Map(
    Object.values(domain.kinds).map((kind) => [
      kind.name,
      { plural: kind.plural, parentKeys: parentKeysOf(kind) },
    ]),
  );
  return ({ type, stream, data }) => {
    const end = stream.indexOf('-');
    const name = stream.slice(0, end);
    const kind = kinds.get(name);
    if (kind === undefined) return ['all', `type:${type}`];
    const own: readonly Topic[] = ['all', `type:${type}`, `${name}:${stream.slice(end + 1)}`];
    const parents = kind.parentKeys.flatMap((key): readonly Topic[] =>
      typeof data[key] === 'number' ? [`${kind.plural}:${data[key]}`] : [],
    );
    return parents.length === 0 ? own : [...own, ...parents];
  };
};
