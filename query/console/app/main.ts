import { render, type VNode } from 'preact';
import { openApi } from './api.ts';
import { readDomain } from './data/domain.ts';
import { html } from './html.ts';
import { Shell } from './shell.ts';
import { type Entrance, enter, type SignInFacts } from './sign-in.ts';
import { Threshold } from './threshold.ts';

/** Signs in, which may leave the page, and shows the console, or why there is none. */
const start = async (root: HTMLElement, facts: SignInFacts, declared: string): Promise<void> => {
  const entrance = await enter(facts).catch((error: unknown): Entrance => ({ kind: 'failed', error }));
  switch (entrance.kind) {
    case 'leaving':
      return;
    case 'signed-in':
      return render(await openShell(entrance, declared), root);
    case 'signed-out':
    case 'failed':
      return render(html`<${Threshold} entrance=${entrance} />`, root);
  }
};

/** The declaration may be missing: during an upgrade, a replica of another release may be asked for it. */
const openShell = async ({ session }: Extract<Entrance, { kind: 'signed-in' }>, declared: string): Promise<VNode> => {
  try {
    return html`<${Shell} api=${openApi(session)} session=${session} domain=${await readDomain(declared)} />`;
  } catch (error) {
    return html`<${Threshold} entrance=${{ kind: 'failed', error }} />`;
  }
};

const root = document.getElementById('console');
const { home = '', issuer = '', scope = '', domain = '' } = document.body.dataset;
if (root !== null) await start(root, { home, issuer, scope }, domain);
