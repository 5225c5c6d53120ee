import { publishing } from '../domain/publishing.ts';
import { base } from '../examples/expenses/domain/base.ts';
import { claim } from '../examples/expenses/domain/claim.ts';
import { expenses } from '../examples/expenses/domain/domain.ts';
import { spending } from '../examples/expenses/domain/spending.ts';
import { team } from '../examples/expenses/domain/team.ts';
import type { UserId } from '../kernel/base/brands.ts';
import { assemble, type Domain, instant, latest, ref, sum } from '../package/index.ts';
import type { AnnalsEvent } from '../shared/events/catalogue.ts';
import '../shared/needed/all.ts';

// The histories with which the benches fill logs: the same each time, because a seeded generator makes the
// choices.

export type Planned = { readonly stream: string; readonly version: number; readonly event: AnnalsEvent };

export const EPOCH_MS = Date.UTC(2026, 0, 1);
/** Later events concern recent items, as on a real site. */
const RECENT = 1_000;

const createAuthor = () => {
  const random = randomOf(7);
  const pick = <Item>(items: readonly Item[]): Item => items[Math.floor(random() * items.length)] as Item;
  const versions = new Map<string, number>();
  return {
    random,
    pick,
    recent: <Item>(items: readonly Item[]): Item => pick(items.slice(-RECENT)),
    text: (words: number) => Array.from({ length: words }, () => pick(WORDS)).join(' '),
    planned(stream: string, given: { readonly type: string; readonly data: object }): Planned {
      const version = (versions.get(stream) ?? 0) + 1;
      versions.set(stream, version);
      // Events of the domain are declared, and have no types here.
      const event = given as AnnalsEvent;
      return { stream, version, event };
    },
  };
};

/** Users, articles, comments, and reservations. */
function* historyOfPublishing(): Generator<Planned> {
  const { random, pick, recent, text, planned } = createAuthor();
  const users: UserId[] = [];
  const articles: { articleId: number; authorId: UserId }[] = [];
  const comments: { commentId: number; articleId: number; authorId: UserId }[] = [];
  let nextId = 1_000;
  for (let n = 0; ; n += 1) {
    const kind = n < 200 ? 0 : n < 400 ? 10 : random() * 100;
    nextId += 1;
    if (kind < 5) {
      const userId = nextId as UserId;
      users.push(userId);
      yield planned(`user-${userId}`, {
        type: 'user.registered',
        data: { userId, name: `Person ${userId}`, email: `person-${userId}@example.com`, role: 'author' },
      });
    } else if (kind < 24) {
      const article = { articleId: nextId, authorId: recent(users) };
      articles.push(article);
      const data = {
        ...article,
        title: text(6),
        body: text(150),
        tags: [pick(WORDS), `tag-${nextId % 97}`],
        cover: null,
      };
      yield planned(`article-${nextId}`, { type: 'article.drafted', data });
      yield planned(`article-${nextId}`, { type: 'article.published', data: article });
      n += 1;
    } else if (kind < 32) {
      const article = recent(articles);
      yield planned(`article-${article.articleId}`, {
        type: 'article.edited',
        data: { ...article, title: text(6) },
      });
    } else if (kind < 34) {
      const userId = recent(users);
      yield planned(`user-${userId}`, { type: 'user.updated', data: { userId, name: `Renamed ${nextId}` } });
    } else if (kind < 80) {
      const comment = { commentId: nextId, articleId: recent(articles).articleId, authorId: recent(users) };
      comments.push(comment);
      yield planned(`comment-${nextId}`, { type: 'comment.added', data: { ...comment, text: text(20) } });
    } else if (kind < 84 && comments.length > 0) {
      const comment = recent(comments);
      yield planned(`comment-${comment.commentId}`, {
        type: 'comment.edited',
        data: { ...comment, text: text(20) },
      });
    } else {
      const digest = `${nextId}`;
      const data = { digest, seed: digest, at: new Date(EPOCH_MS).toISOString(), by: 'command-1' };
      yield planned(`command-${digest}`, { type: 'command.reserved', data });
    }
  }
}

/**
 * Employees, teams, and claims with items, which are submitted, approved and paid: totals of their items, and
 * a view of their teams.
 */
function* historyOfExpenses(): Generator<Planned> {
  const { random, pick, text, planned } = createAuthor();
  const users: UserId[] = [];
  const teams: number[] = [];
  for (let id = 1_000; ; id += 1) {
    if (users.length < 100 || random() < 0.01) {
      const userId = id as UserId;
      users.push(userId);
      const data = {
        userId,
        name: `Person ${userId}`,
        email: `person-${userId}@example.com`,
        role: 'employee',
        iban: null,
      };
      yield planned(`user-${userId}`, { type: 'user.registered', data });
    } else if (teams.length < 100) {
      teams.push(id);
      yield planned(`team-${id}`, {
        type: 'team.opened',
        data: { teamId: id, name: `Team ${id}`, approverId: pick(users), budget: 1_000_000 },
      });
    } else {
      yield* claimed(id);
    }
  }

  function* claimed(claimId: number): Generator<Planned> {
    const [claim, employeeId, teamId] = [{ claimId }, pick(users), pick(teams)];
    const own = { ...claim, employeeId };
    const happened = (type: string, data: object) =>
      planned(`claim-${claimId}`, { type: `claim.${type}`, data });
    yield happened('drafted', { ...own, teamId, purpose: text(5) });
    const itemCount = 1 + Math.floor(random() * 5);
    let total = 0;
    for (let itemId = 1; itemId <= itemCount; itemId += 1) {
      const amount = 100 + Math.floor(random() * 10_000);
      total += amount;
      const data = { spentOn: '2026-03-09', category: 'travel', amount, note: text(6), receipt: null };
      yield happened('itemAdded', { ...own, itemId, ...data });
    }
    for (const type of ['submitted', 'approved', 'paid']) yield happened(type, { ...own, teamId, total });
  }
}

/** A second view of claims, by employee: with the last known values, which is the most expensive kind. */
const owing = base.view('owing', {
  of: [claim],
  key: { employee: ref(base.user) },
  values: { claims: sum(), owed: sum(), lastPaidAt: latest(instant()) },
  from: {
    claim: {
      by: { employee: 'employee' },
      on: {
        drafted: { gives: { claims: 1 } },
        submitted: { changes: { owed: 'total' } },
        paid: { changes: { owed: 0, lastPaidAt: 'now' } },
      },
    },
  },
  read: { employee: { employee: 'caller' } },
});

/** By the name for the option `--domain`: the three of expenses differ by their views only. */
export const HISTORIES = {
  publishing: { domain: publishing, history: historyOfPublishing },
  'expenses-without-views': { domain: assemble(base, [team, claim]), history: historyOfExpenses },
  expenses: { domain: expenses, history: historyOfExpenses },
  'expenses-two-views': {
    domain: assemble(base, [team, claim], [spending, owing]),
    history: historyOfExpenses,
  },
} as const satisfies Readonly<
  Record<string, { readonly domain: Domain; readonly history: () => Generator<Planned> }>
>;
export type HistoryName = keyof typeof HISTORIES;

const randomOf = (seed: number) => {
  let state = seed;
  return () => {
    state = (Math.imul(state, 1_664_525) + 1_013_904_223) >>> 0;
    return state / 2 ** 32;
  };
};

const WORDS =
  `the of and a to in is that for it as was with be by on not he his but at are this have from or had an they which one you were all her she there would
their we him been has when who will no more if out so up said what its about than into them can only other time new some could these two may first then do any like my
now over such our man me even most made after also did many off before must well back through years much where your way down should because long each just state those
people too mr how little good world make very year still see own work men day get here old life both between being under three never know same last another while us
might great go come since against right came take used himself few house american use place during high without again home around small however found mrs part school
thought went say general once upon war every left got united number course war until always away something fact water public though less put think almost hand enough far
took head yet better set told nothing night end why called going system didn find look asked later point knew next city business case given group toward young days let
room present side social several order national program form face second possible rather per among large need interest often children early felt big best thing means white
engine analytical difference machine number operation cards mill store columns punched weaving algebraic patterns jacquard loom calculus formula bernoulli note diagram`
    .split(/\s+/)
    .filter((word) => word.length > 0);
