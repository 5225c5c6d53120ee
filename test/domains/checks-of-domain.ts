import { parse } from 'graphql';
import { subgraphSdlOf } from '../../query/graphql/federation/sdl.ts';
import type { Checks } from '../../testing/describe-domain/checks.ts';
import { checkExamples, checkPages } from '../../testing/describe-domain/documents.ts';
import { checkQueries } from '../../testing/describe-domain/graphql.ts';
import { checkHistory } from '../../testing/describe-domain/history.ts';
import { checkLinks } from '../../testing/describe-domain/links.ts';
import { checkReadLog } from '../../testing/describe-domain/read-log.ts';
import { checkRebuilding } from '../../testing/describe-domain/rebuilding.ts';
import { checkForms } from '../../testing/describe-domain/rest-forms.ts';
import { checkLists } from '../../testing/describe-domain/rest-lists.ts';
import { checkRights } from '../../testing/describe-domain/rights.ts';
import type { Situation } from '../../testing/describe-domain/situations.ts';
import type { Stage } from '../../testing/describe-domain/stage.ts';
import { checkStreams } from '../../testing/describe-domain/streams.ts';
import { checkAnswers } from './check-answers.ts';
import { checkFeed } from './check-feed.ts';
import { checkMessages, checkSchedules } from './check-machines.ts';
import { checkReleases } from './check-releases.ts';
import { checkRequests } from './check-requests.ts';
import type { Grown } from './grow.ts';

type DomainCheck = (
  stage: Stage,
  checks: Checks,
  grown: Pick<Grown, 'seed' | 'plan' | 'domain'>,
) => Promise<void>;

const situationsIn = ({ found }: Stage): readonly Situation[] => [
  ...new Map(found.situations.map((situation) => [situation.alike, situation])).values(),
];
const firstsIn = (stage: Stage): readonly Situation[] => [
  ...new Map(stage.found.situations.map((situation) => [situation.kind, situation])).values(),
];

/** The situations in which a check is made; a night makes it in more. */
const SITUATIONS_MAX = Number(process.env.DOMAINS_SITUATIONS ?? 3);

const inEach =
  (
    check: (stage: Stage, checks: Checks, situation: Situation) => Promise<void>,
    of = situationsIn,
  ): DomainCheck =>
  async (stage, checks) => {
    const all = [...of(stage)];
    for (let left = SITUATIONS_MAX; left > 0 && all.length > 0; left -= 1)
      await check(stage, checks, all.splice(stage.random.below(all.length), 1)[0] as Situation);
  };

/** Every domain has these, whatever it declares. */
const checkDocuments: DomainCheck = async (stage, checks) => {
  parse(subgraphSdlOf(stage.domain));
  for (const path of ['/openapi.json', '/docs', '/console', '/event-types', '/graphql']) {
    const { status } = await stage.ask('GET', path, {
      headers: { accept: path.endsWith('json') ? '*/*' : 'text/html,*/*' },
    });
    checks.equal(status < 400, true, `GET ${path} is answered: ${status}`);
  }
};

export const CHECKS: Readonly<Record<string, DomainCheck>> = {
  documents: checkDocuments,
  pages: checkPages,
  examples: checkExamples,
  answers: inEach(async (stage, checks, situation) =>
    checkAnswers(stage, checks, await stage.make(situation)),
  ),
  forms: inEach(checkForms, firstsIn),
  lists: async (stage, checks) => {
    for (const { kind } of firstsIn(stage)) await checkLists(stage, checks, kind);
  },
  rights: async (stage, checks) => checkRights(stage, checks, situationsIn(stage).slice(0, SITUATIONS_MAX)),
  queries: checkQueries,
  links: inEach((stage, checks, situation) => checkLinks(stage, checks, { situation, known: new Map() })),
  history: inEach(checkHistory),
  readers: inEach(checkReadLog, firstsIn),
  streams: checkStreams,
  feed: checkFeed,
  requests: checkRequests,
  messages: checkMessages,
  schedules: checkSchedules,
  releases: checkReleases,
  // The last, because each verification reads the whole log.
  rebuilding: checkRebuilding,
};
