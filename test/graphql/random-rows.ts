import type { UserId } from '#kernel/base/brands.ts';
import type { Caller } from '#shared/policy.ts';
import type { Random } from '../../testing/random.ts';
import { POLICY, SCOPES } from '../engines/policy.ts';
import type { ReadModelRows } from './read-model-rows.ts';

const ID_MAX = Number.MAX_SAFE_INTEGER;
/** Few values, so that rows sometimes have equal ones. */
const TIMES = [0, 1, 1_700_000_000_123, 1_700_000_000_124, 1_700_000_001_000, 253_402_300_799_999];

/** A small read model: deleted users, erased texts, drafts, equal times, and texts of all kinds. */
export const randomRows = ({ below, chance, pick, some, text }: Random): ReadModelRows => {
  const newId = ((used: Set<number>) => () => {
    let id = chance(10) ? ID_MAX - below(1_000) : 1 + below(1_000);
    while (used.has(id)) id -= 1;
    used.add(id);
    return id > 0 ? id : 1_000_000 + used.size;
  })(new Set<number>());
  const at = () => new Date(pick(TIMES));
  const stamps = () => ({ version: 1 + below(9), created_at: at(), updated_at: at() });
  const users = Array.from({ length: 1 + below(6) }, () => {
    const person = { id: newId(), role: pick(['reader', 'author', 'admin']), ...stamps() };
    if (chance(20)) return { ...person, name: null, email: null, deleted_at: at() };
    return { ...person, name: text(), email: chance(50) ? text() : null, deleted_at: null };
  });
  const articles = some(10, () => ({
    id: newId(),
    author_id: pick(users).id,
    title: text(),
    body: text(),
    tags: some(3, (index) => `tag-${index}`),
    cover: chance(30) ? `/uploads/${below(9)}` : null,
    ...stamps(),
    ...(chance(70)
      ? { status: 'published' as const, published_at: at() }
      : { status: 'draft' as const, published_at: null }),
  }));
  const comments =
    articles.length === 0
      ? []
      : some(16, () => ({
          id: newId(),
          // Sometimes of an article that is deleted already.
          article_id: chance(5) ? ID_MAX : pick(articles).id,
          author_id: pick(users).id,
          text: chance(20) ? null : text(),
          ...stamps(),
        }));
  return { users, articles, comments };
};

export const randomCaller = ({ chance, pick }: Random, { users }: ReadModelRows): Caller => {
  if (chance(30)) return { kind: 'anonymous', policy: POLICY };
  if (chance(5)) return { kind: 'system', name: 'test' };
  const scopes = new Set<string>(chance(70) ? SCOPES : SCOPES.filter(() => chance(50)));
  return {
    kind: 'user',
    policy: POLICY,
    userId: pick(users).id as UserId,
    role: pick(['author', 'reader', 'admin']),
    scopes,
    client: null,
  };
};
