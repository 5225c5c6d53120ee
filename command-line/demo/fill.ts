import type { PlannedDemo } from '#kernel/demo/demo.ts';
import { exampleKind } from '#kernel/registry/example-kind.ts';
import { spaced } from '#kernel/registry/names.ts';
import type { Terminal } from '../terminal.ts';
import type { AnnalsByHttp } from './annals-by-http.ts';
import { giveFirstPassword } from './make-administrator.ts';
import { makeClients, makeWebhooks } from './make-integrations.ts';
import { makeItems } from './make-items.ts';
import { type Receiver, startReceiver } from './receiver.ts';
import { keepTraffic } from './traffic.ts';

export type Filling = {
  readonly annals: AnnalsByHttp;
  readonly shownUrl: string;
  readonly terminal: Terminal;
  readonly seed: number;
  readonly planned: PlannedDemo;
  /** Undefined where nobody has said how long. */
  readonly trafficMs: number | undefined;
};

const TRAFFIC_MS = 20_000;

/** Makes the demo, tells what it is and how to look at it, and has a little going on. */
export const fill = async (filling: Filling): Promise<void> => {
  const { annals, terminal, seed, planned } = filling;
  const { send } = annals;
  await using receiver = await startReceiver(planned.webhooks);
  await using webhooks = await makeWebhooks({ annals, seed, webhooks: planned.webhooks }, receiver.url);
  await makeItems({ send, seed, planned, kind: exampleKind(terminal.domain), tell: tellerOf(terminal) });
  const password = await giveFirstPassword(terminal, planned.people[0]?.email ?? '');
  await makeClients(send, seed, planned.clients);
  terminal.rewrite?.('');
  await terminal.write(summary(filling, webhooks !== undefined, password));
  await withTraffic(filling, receiver, TRAFFIC_MS);
  await receiver.settled(terminal.signal);
};

/** It is there already: nothing is made twice, but people may go on. */
export const goOn = async (filling: Filling): Promise<void> => {
  const { annals, terminal, seed, planned } = filling;
  await terminal.write(
    `Demo ${seed} is there already, and nothing was made twice. Another --seed makes more; --traffic 10m lets its people go on.\n\n${howToLook(filling, undefined)}`,
  );
  if (!filling.trafficMs) return;
  await using receiver = await startReceiver(planned.webhooks);
  await using _webhooks = await makeWebhooks({ annals, seed, webhooks: planned.webhooks }, receiver.url);
  await withTraffic(filling, receiver, 0);
  await receiver.settled(terminal.signal);
};

const withTraffic = async ({ annals, terminal, planned, trafficMs }: Filling, receiver: Receiver, elseMs: number): Promise<void> => {
  const durationMs = trafficMs ?? elseMs;
  if (durationMs === 0) return;
  const { signal, rewrite, complain } = terminal;
  complain(`\nPeople read and write for ${durationMs / 1_000} s; Ctrl+C ends it.`);
  let made = 0;
  const onStep = (steps: number, leftMs: number): void => {
    made = steps;
    rewrite?.(`${steps} things done, ${Math.ceil(leftMs / 1_000)} s left`);
  };
  await keepTraffic({ send: annals.send, planned, durationMs, signal, onStep });
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

const summary = (filling: Filling, hasWebhooks: boolean, password: string | undefined): string => {
  const { seed, planned } = filling;
  const { people, clients, webhooks } = planned;
  const left = people.filter(({ later }) => later === 'deleted').length;
  const gone = webhooks.filter(({ receiver }) => receiver === 'gone').length;
  return [
    `Demo ${seed} is there:`,
    `  ${people.length} people, ${left === 1 ? 'one of whom has' : `${left} of whom have`} left since`,
    ...planned.summary.map((line) => `  ${line}`),
    `  ${clients.length} clients, ${hasWebhooks ? `${webhooks.length} webhooks, ${gone === 1 ? 'one of which says that it is' : `${gone} of which say that they are`} gone` : 'and no webhook, because none may lead to this machine here'}`,
    '',
    howToLook(filling, password),
  ].join('\n');
};

const howToLook = ({ shownUrl, planned, terminal }: Filling, password: string | undefined): string => {
  const email = planned.people[0]?.email ?? '';
  const { path, plural } = exampleKind(terminal.domain);
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
    `  ${url}/${path.padEnd('console/webhooks'.length)}   the ${spaced(plural)}, by REST; ${url}/docs tells the rest`,
    `  ${url}/graphql            and by GraphQL`,
  ].join('\n');
};
