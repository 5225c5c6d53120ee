import type { Domain, Kind } from '#kernel/registry/registry.ts';
import { type Checks, countChecks } from './checks.ts';
import { checkErasure } from './erasure.ts';
import type { Examples } from './forms.ts';
import { checkQueries } from './graphql.ts';
import { checkHistory, historiesOf } from './history.ts';
import type { Host } from './host.ts';
import { checkLinks } from './links.ts';
import { checkItemLists, listChecksOf } from './list-orders.ts';
import { personalFields } from './personal.ts';
import { checkRebuilding, checkTampering, tamperedTables } from './proof.ts';
import { checkReactions, reactionsOf } from './reactions.ts';
import { describeReadings } from './readings.ts';
import { checkFiles, checkFilesOfItems, filesOf } from './rest-files.ts';
import { checkForms } from './rest-forms.ts';
import { checkLimits, limitedFields } from './rest-limits.ts';
import { checkLists } from './rest-lists.ts';
import { checkPreconditions } from './rest-preconditions.ts';
import type { Situation } from './situations.ts';
import { sortsOf } from './sorted-pages.ts';
import { isCrowded, openStage, type Stage } from './stage.ts';
import { checkStreams, PAST, TOLD } from './streams.ts';
import { checkViews, viewChecksOf } from './views.ts';

export type Options = {
  /** Forms for commands, where the values that the suite makes do not suffice. */
  readonly examples?: Examples;
  /**
   * What the suite cannot reach, as it names that, each with the reason: `{ 'claim: no lapse': 'only its
   * timer does' }`. Whatever else is not reached fails.
   */
  readonly unreached?: Readonly<Record<string, string>>;
  /**
   * The same of what the declaration demands a check of, and no situation has: `{ 'the limits of claim.iban':
   * 'only … may say it' }`.
   */
  readonly unchecked?: Readonly<Record<string, string>>;
};

/**
 * Everything that a domain must keep to on every surface, for each of its aggregates, by the declaration
 * alone.
 */
export const describeDomain = (
  host: Host,
  domain: Domain,
  { examples = {}, unreached = {}, unchecked = {} }: Options = {},
): void => {
  const { describe, test, beforeAll, afterAll } = host.runner;
  describe(domain.name, () => {
    const checks = countChecks();
    const seed = Number(process.env.DESCRIBE_SEED ?? Date.now() % 2 ** 31);
    let stage: Stage;
    beforeAll(async () => {
      stage = await openStage(domain, { host, examples, seed });
    });
    afterAll(async () => {
      await stage?.[Symbol.asyncDispose]();
      process.stderr.write(`${domain.name}: ${checks.made()} checks, drawn with DESCRIBE_SEED=${seed}\n`);
    });
    /** What is demanded is named as it is counted; one check at least, if nothing else is said. */
    const each: Each = (name, check, demands = [name]) =>
      test(name, async () => {
        await check(stage, checks.of(name));
        const nothing = demands.filter((demanded) => checks.made(demanded) === 0);
        const excused = demands.filter((demanded) => demanded in unchecked);
        checks.equal(
          nothing.toSorted(),
          excused.toSorted(),
          'what nothing was checked of, and what was said not to be',
        );
      });
    each(
      'every command is carried out, and every state reached, but for those that are named with their reason',
      async (on, of) => {
        of.equal(
          on.found.unreached.toSorted(),
          Object.keys(unreached).toSorted(),
          'what is not reached, and what was said not to be',
        );
      },
    );
    describeRest(domain, each);
    describeQueries(domain, each);
    describeStreams(domain, each);
    each(
      'what refers to something does what it says when something happens to that',
      checkReactions,
      reactionsOf(domain),
    );
    describePast(domain, each);
    each('built again, and carried elsewhere, the read model is the same', checkRebuilding);
    each('what is personal goes with its person, wherever it got to', checkErasure, [
      'user.name',
      'user.email',
      ...ofAll(domain, personalFields),
    ]);
    describeReadings(host, domain);
  });
};

type Each = (name: string, check: Check, demands?: readonly string[]) => void;
const ofAll = (domain: Domain, of: (kind: Kind) => readonly string[]): readonly string[] =>
  kindsOf(domain).flatMap(of);

const describeRest = (domain: Domain, each: Each): void => {
  each('REST: forms are refused at the field that is wrong, and what is sent is there', async (on, of) => {
    await inTurn(domain, firstsOf(on), (situation) => checkForms(on, of, situation));
  });
  each(
    'REST: what just keeps to a limit is taken, and is there when it is read',
    async (on, of) => {
      await inTurn(domain, firstsOf(on, { byAnybody: true }), (situation) => checkLimits(on, of, situation));
    },
    ofAll(domain, limitedFields),
  );
  each(
    'REST: files can be read by those who may read what they belong to',
    async (on, of) => {
      await inTurn(domain, firstsOf(on), (situation) => checkFiles(on, of, situation));
      for (const situation of firstsOf(on)) await checkFilesOfItems(on, of, situation);
    },
    ofAll(domain, filesOf),
  );
  each('REST: versions and keys are kept to, and what is not there is not found', async (on, of) => {
    await inTurn(domain, firstsOf(on), (situation) => checkPreconditions(on, of, situation));
  });
  each(
    'REST: lists have what their reader may read, in their order, and in pages',
    async (on, of) => {
      for (const kind of kindsOf(domain)) await checkLists(on, of, kind);
    },
    ofAll(domain, (kind) => sortsOf({ domain }, kind)),
  );
  each(
    'lists of items are in the order of their moves, take as many as they may, and are shown in pages',
    async (on, of) => {
      for (const kind of kindsOf(domain)) await checkItemLists(on, of, kind);
    },
    ofAll(domain, listChecksOf),
  );
};

const describeQueries = (domain: Domain, each: Each): void => {
  each(
    'GraphQL: random queries are answered as graphql-js does over the same rows, for everybody',
    checkQueries,
  );
  each(
    'links are there exactly where what they lead to changes something, for everybody in every state',
    async (on, of) => {
      await inTurn(domain, on.found.situations, (situation) => checkLinks(on, of, situation));
    },
  );
};

const describeStreams = (domain: Domain, each: Each): void => {
  each('whoever follows is told what they may know, in order, and goes on where they were', checkStreams, [
    TOLD,
    PAST,
  ]);
  each(
    'who follows a view has what is in it, and nothing is left in it of what has ended',
    checkViews,
    viewChecksOf(domain),
  );
};

const describePast = (domain: Domain, each: Each): void => {
  each(
    'what has happened is told to whoever may know, and leads to how it was',
    async (on, of) => {
      await inTurn(domain, on.found.situations, (situation) => checkHistory(on, of, situation));
    },
    ofAll(domain, (kind) => [historiesOf(kind)]),
  );
  each(
    'what somebody tampers with is found, in every column of every table',
    checkTampering,
    isCrowded(domain) ? undefined : tamperedTables(domain),
  );
};

type Check = (stage: Stage, checks: Checks) => Promise<void>;

const kindsOf = (domain: Domain): readonly Kind[] =>
  Object.values(domain.kinds).filter(({ name }) => name !== 'user');

/**
 * Of each aggregate the situation in which most is there, so that there is most to be done with it; what only
 * administrators make is left out unless `byAnybody`.
 */
const firstsOf = ({ domain, found }: Stage, { byAnybody = false } = {}): readonly Situation[] =>
  kindsOf(domain).flatMap(({ name }) => {
    const all = found.situations.filter(({ kind, later }) => kind.name === name && later.length === 0);
    const byOthers = all.filter(({ steps }) => steps[0]?.actor !== 'admin');
    const taken = byAnybody && byOthers.length === 0 ? all : byOthers;
    return taken.toSorted((one, other) => other.steps.length - one.steps.length).slice(0, 1);
  });

const AT_ONCE = 4;

/** So many at a time. */
const inTurn = async <Item>(
  domain: Domain,
  items: readonly Item[],
  work: (item: Item) => Promise<void>,
): Promise<void> => {
  const queue = [...items];
  const worker = async (): Promise<void> => {
    for (let item = queue.shift(); item !== undefined; item = queue.shift()) await work(item);
  };
  await Promise.all(Array.from({ length: isCrowded(domain) ? 1 : AT_ONCE }, worker));
};
