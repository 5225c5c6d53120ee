// Over 200 lines, because it is one list: all checks of a domain, in the order in which they run.
import { isUser } from '#kernel/base/users.ts';
import type { Domain, Kind } from '#kernel/registry/registry.ts';
import { type Checks, countChecks } from './checks.ts';
import { checkExamples, checkPages } from './documents.ts';
import { checkErasure } from './erasure.ts';
import type { Examples } from './forms.ts';
import { checkQueries } from './graphql.ts';
import { checkHistory, hasShownEvents, historiesOf } from './history.ts';
import type { Host } from './host.ts';
import { checkLinks, type KnownLinks } from './links.ts';
import { checkItemLists, listChecksOf } from './list-orders.ts';
import { personalFields } from './personal.ts';
import { withProgress } from './progress.ts';
import { checkTampering, tamperedTables } from './proof.ts';
import { checkReactions, reactionsOf } from './reactions.ts';
import { checkReadLog, readLogsOf } from './read-log.ts';
import { describeReadings } from './readings.ts';
import { checkRebuilding } from './rebuilding.ts';
import { checkFiles, checkFilesOfItems, filesOf } from './rest-files.ts';
import { checkForms } from './rest-forms.ts';
import { checkLimits, limitedFields } from './rest-limits.ts';
import { checkLists } from './rest-lists.ts';
import { checkPreconditions } from './rest-preconditions.ts';
import { checkRights, rightsChecksOf } from './rights.ts';
import { checkKernelRights } from './rights-kernel.ts';
import { checkUserRights } from './rights-users.ts';
import type { Situation } from './situations.ts';
import { sortsOf } from './sorted-pages.ts';
import { asDeclared, isCrowded, NoRoom, openStage, type Stage } from './stage.ts';
import { checkStreams, PAST, RECEIVED } from './streams.ts';
import { checkViewLists, viewListsOf } from './view-pages.ts';
import { checkViews, viewChecksOf } from './views.ts';

export type Options = {
  /** Forms for commands, if the generated values do not suffice. */
  readonly examples?: Examples;
  /**
   * States and commands that the suite cannot reach, by the names it prints, each with the reason: `{ 'claim:
   * no lapse': 'only its timer does' }`. Anything else that is not reached fails.
   */
  readonly unreached?: Readonly<Record<string, string>>;
  /**
   * Checks that the declaration demands but no situation allows, each with the reason: `{ 'the limits of
   * claim.iban': 'only … may say it' }`.
   */
  readonly unchecked?: Readonly<Record<string, string>>;
};

/**
 * Tests everything that follows from the declaration of a domain, on every interface, for each of its
 * aggregates.
 */
export const describeDomain = (
  host: Host,
  served: Domain,
  { examples = {}, unreached = {}, unchecked = {} }: Options = {},
): void => {
  const domain = asDeclared(served);
  const { describe, test, beforeAll, afterAll } = host.runner;
  describe(domain.name, () => {
    const checks = countChecks();
    const seed = Number(process.env.DESCRIBE_SEED ?? process.env.TEST_SEED ?? Date.now() % 2 ** 31);
    let stage: Stage;
    beforeAll(() =>
      withProgress(
        () => `${domain.name}: starts`,
        async () => {
          stage = await openStage(served, { host, examples, seed });
        },
      ),
    );
    afterAll(async () => {
      await stage?.[Symbol.asyncDispose]();
      process.stderr.write(`${domain.name}: ${checks.made()} checks, drawn with DESCRIBE_SEED=${seed}\n`);
    });
    /** `demands` are the names under which the checks are counted. Each must be checked at least once. */
    const each: Each = (name, check, demands = [name]) =>
      test(name, async () => {
        const isWhole = await withProgress(
          () => `${domain.name}: ${checks.made(name)} checks of “${name}”`,
          () => check(stage, checks.of(name)).then(() => true, isAbandoned),
        );
        if (!isWhole) return;
        const nothing = demands.filter((demanded) => checks.made(demanded) === 0);
        const excused = demands.filter((demanded) => demanded in unchecked);
        checks.equal(
          nothing.toSorted(),
          excused.toSorted(),
          'what nothing was checked of, and what was said not to be',
        );
      });
    each(
      'every command is carried out and every state reached, except those that are named with a reason',
      async (on, of) => {
        of.equal(
          on.found.unreached.toSorted(),
          Object.keys(unreached).toSorted(),
          'what is not reached, and what was said not to be',
        );
      },
    );
    describeRest(domain, each);
    // Each of its verifications reads the whole log, which the tests after it make much longer.
    each(
      'verification finds tampering in every column of every table',
      checkTampering,
      isCrowded(domain) ? undefined : tamperedTables(domain),
    );
    describeRights(domain, each);
    describeQueries(domain, each);
    describeStreams(domain, each);
    each(
      'a reaction is carried out when its event happens to the referenced aggregate',
      checkReactions,
      reactionsOf(domain),
    );
    describePast(domain, each);
    describeDocuments(each);
    each('the read model is the same after a rebuild, and after a restore elsewhere', checkRebuilding);
    describeErasure(domain, each);
    describeReadings(host, domain);
  });
};

type Each = (name: string, check: Check, demands?: readonly string[]) => void;
const ofAll = (domain: Domain, of: (kind: Kind) => readonly string[]): readonly string[] =>
  kindsOf(domain).flatMap(of);

const describeRest = (domain: Domain, each: Each): void => {
  each(
    'REST: an invalid form is refused at the invalid field, and a valid one is stored as sent',
    async (on, of) => {
      await inTurn(domain, firstsOf(on), (situation) => checkForms(on, of, situation));
    },
  );
  each(
    'REST: values at the edge of a limit are accepted, and stored as sent',
    async (on, of) => {
      await inTurn(domain, firstsOf(on, { byAnybody: true }), (situation) => checkLimits(on, of, situation));
    },
    ofAll(domain, limitedFields),
  );
  each(
    'REST: a file is readable for those who may read the aggregate it belongs to',
    async (on, of) => {
      await inTurn(domain, firstsOf(on), (situation) => checkFiles(on, of, situation));
      for (const situation of firstsOf(on)) await checkFilesOfItems(on, of, situation);
    },
    ofAll(domain, filesOf),
  );
  each('REST: versions and idempotency keys are respected, and unknown ids are not found', async (on, of) => {
    await inTurn(domain, firstsOf(on), (situation) => checkPreconditions(on, of, situation));
  });
  each(
    'REST: lists contain the readable aggregates, sorted, in pages',
    async (on, of) => {
      for (const kind of kindsOf(domain)) await checkLists(on, of, kind);
    },
    ofAll(domain, (kind) => sortsOf({ domain }, kind)),
  );
  each(
    'lists of items keep the order of their moves, respect their maximum, and are paginated',
    async (on, of) => {
      for (const kind of kindsOf(domain)) await checkItemLists(on, of, kind);
    },
    ofAll(domain, listChecksOf),
  );
};

const describeQueries = (domain: Domain, each: Each): void => {
  each(
    'GraphQL: random queries return what graphql-js returns over the same rows, for every reader',
    checkQueries,
  );
  each(
    'a link is shown exactly if its request changes something, for every reader in every state',
    async (on, of) => {
      const known: KnownLinks = new Map();
      await inTurn(domain, distinct(on), (situation) => checkLinks(on, of, { situation, known }));
    },
  );
};

const describeRights = (domain: Domain, each: Each): void => {
  each(
    'rights: every caller is refused what the declaration refuses, by REST and by GraphQL',
    (on, of) => checkRights(on, of, distinct(on)),
    ofAll(domain, (kind) => rightsChecksOf(domain, kind)),
  );
  each('rights: users are shown, changed and deleted as declared', checkUserRights);
  each('rights: the kernel’s own operations need what they say', checkKernelRights);
  each(
    'log of reads: each reader of an item has an entry, and its readers are shown as declared',
    async (on, of) => {
      await inTurn(domain, firstsOf(on), (situation) => checkReadLog(on, of, situation));
    },
    readLogsOf(domain),
  );
};

const describeStreams = (domain: Domain, each: Each): void => {
  each(
    'every subscriber receives the events visible to it, in order, and resumes at its cursor',
    checkStreams,
    [RECEIVED, PAST],
  );
  each(
    'the subscriber of a view has its exact content, without the rows of ended aggregates',
    checkViews,
    viewChecksOf(domain),
  );
  each(
    'lists of a view show every reader the rows with a right to them, sorted, in pages',
    checkViewLists,
    viewListsOf(domain),
  );
};

const describeErasure = (domain: Domain, each: Each): void => {
  each('an erasure removes every copy of a person’s personal data', checkErasure, [
    'user.name',
    'user.email',
    ...ofAll(domain, personalFields),
  ]);
};

const describeDocuments = (each: Each): void => {
  each('every page of the documentation is shown', checkPages);
  each('every read accepts the examples of its parameters in /openapi.json', checkExamples);
};

const describePast = (domain: Domain, each: Each): void => {
  each(
    'histories show every visible event, and lead to the state at that time',
    async (on, of) => {
      await inTurn(domain, distinct(on), (situation) => checkHistory(on, of, situation));
    },
    ofAll(domain, (kind) => (hasShownEvents(kind) ? [historiesOf(kind)] : [])),
  );
};

/** Returns false if a check ended early, because no room was left for what it makes. */
const isAbandoned = (error: unknown): false => {
  if (!(error instanceof NoRoom)) throw error;
  process.stderr.write(`${error.message}\n`);
  return false;
};

type Check = (stage: Stage, checks: Checks) => Promise<void>;

const kindsOf = (domain: Domain): readonly Kind[] =>
  Object.values(domain.kinds).filter((kind) => !isUser(kind));

/**
 * Of each aggregate the situation with the longest history, which allows most commands. Leaves out aggregates
 * that only administrators create, unless `byAnybody`.
 */
const firstsOf = ({ domain, found }: Stage, { byAnybody = false } = {}): readonly Situation[] =>
  kindsOf(domain).flatMap(({ name }) => {
    const all = found.situations.filter(({ kind, later }) => kind.name === name && later.length === 0);
    const byOthers = all.filter(({ steps }) => steps[0]?.actor !== 'admin');
    const taken = byAnybody && byOthers.length === 0 ? all : byOthers;
    return taken.toSorted((one, other) => other.steps.length - one.steps.length).slice(0, 1);
  });

const distinct = ({ found }: Stage): readonly Situation[] => [
  ...new Map(found.situations.toReversed().map((situation) => [situation.alike, situation])).values(),
];

const AT_ONCE = 4;

/** Runs this many at a time. */
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
