import type { Terminal } from '../terminal.ts';
import type { AnnalsByHttp } from './annals-by-http.ts';
import { giveFirstPassword } from './make-administrator.ts';
import { makeContent } from './make-content.ts';
import { makeClients, makeWebhooks } from './make-integrations.ts';
import type { DemoPlan } from './plan.ts';
import { type Receiver, startReceiver } from './receiver.ts';
import { keepTraffic } from './traffic.ts';

export type Demo = {
  readonly annals: AnnalsByHttp;
  readonly shownUrl: string;
  readonly terminal: Terminal;
  readonly plan: DemoPlan;
  /** Undefined where nobody has said how long. */
  readonly trafficMs: number | undefined;
};

const TRAFFIC_MS = 20_000;

/** Makes the demo, tells what it is and how to look at it, and has a little going on. */
export const fill = async (demo: Demo): Promise<void> => {
  const { annals, terminal, plan } = demo;
  await using receiver = await startReceiver();
  await using webhooks = await makeWebhooks(annals, plan.seed, receiver.url);
  await makeContent({ annals, plan, tell: tellerOf(terminal) });
  const password = await giveFirstPassword(terminal, plan.people[0]?.email ?? '');
  await makeClients(annals, plan.seed);
  terminal.rewrite?.('');
  await terminal.write(summary(demo, webhooks !== undefined, password));
  await withTraffic(demo, receiver, TRAFFIC_MS);
  await receiver.settled(terminal.signal);
};

/** It is there already: nothing is made twice, but people may go on. */
export const goOn = async (demo: Demo): Promise<void> => {
  const { annals, terminal, plan } = demo;
  await terminal.write(
    `Demo ${plan.seed} is there already, and nothing was made twice. Another --seed makes more; --traffic 10m lets its people go on.\n\n${howToLook(demo, undefined)}`,
  );
  if (!demo.trafficMs) return;
  await using receiver = await startReceiver();
  await using _webhooks = await makeWebhooks(annals, plan.seed, receiver.url);
  await withTraffic(demo, receiver, 0);
  await receiver.settled(terminal.signal);
};

const withTraffic = async ({ annals, terminal, plan, trafficMs }: Demo, receiver: Receiver, elseMs: number): Promise<void> => {
  const durationMs = trafficMs ?? elseMs;
  if (durationMs === 0) return;
  const { signal, rewrite, complain } = terminal;
  complain(`\nPeople read and write for ${durationMs / 1_000} s; Ctrl+C ends it.`);
  let made = 0;
  const onStep = (steps: number, leftMs: number): void => {
    made = steps;
    rewrite?.(`${steps} things done, ${Math.ceil(leftMs / 1_000)} s left`);
  };
  await keepTraffic({ annals, plan, durationMs, signal, onStep });
  rewrite?.('');
  complain(`${made} things were done. The receiver of the webhooks at ${receiver.url} ends, so they are disabled.`);
};

const tellerOf = ({ rewrite, complain }: Terminal) => {
  let before = '';
  return (what: string, done: number, of: number): void => {
    if (rewrite) rewrite(`Making ${what}: ${done} of ${of}`);
    else if (what !== before) complain(`Making ${of} ${what} …`);
    before = what;
  };
};

const summary = (demo: Demo, hasWebhooks: boolean, password: string | undefined): string => {
  const { seed, people, articles } = demo.plan;
  const count = (fate: string): number => articles.filter((article) => article.fate === fate).length;
  const comments = articles.flatMap((article) => article.comments);
  const moderated = comments.filter(({ isModerated }) => isModerated).length;
  return [
    `Demo ${seed} is there:`,
    `  ${people.length} people, one of whom has left since`,
    `  ${articles.length} articles: ${count('published')} published, ${count('draft')} drafts, ${count('unpublished')} unpublished, ${count('deleted')} deleted`,
    `  ${comments.length} comments, ${moderated} of them taken away by an editor`,
    `  2 clients, ${hasWebhooks ? '3 webhooks, one of which says that it is gone' : 'and no webhook, because none may lead to this machine here'}`,
    '',
    howToLook(demo, password),
  ].join('\n');
};

const howToLook = ({ shownUrl, plan }: Demo, password: string | undefined): string => {
  const email = plan.people[0]?.email ?? '';
  // The name under which browsers keep what they signed in to.
  const url = shownUrl.replace('//127.0.0.1', '//localhost').replace(/\/+$/, '');
  const signIn =
    password === undefined
      ? `Sign in as ${email}, an administrator. The password was shown when it was made; another one: npm run annals -- password-link ${email}`
      : `Sign in as ${email}, an administrator, with the password ${password}\n(shown this once; another one: npm run annals -- password-link ${email})`;
  return [
    signIn,
    '',
    'Open',
    `  ${url}/console            how everything flows, and what happens`,
    `  ${url}/console/webhooks   what was sent, what failed, and what was tried again`,
    `  ${url}/account            their own account`,
    `  ${url}/articles           the articles, by REST; ${url}/docs tells the rest`,
    `  ${url}/graphql            and by GraphQL`,
  ].join('\n');
};
