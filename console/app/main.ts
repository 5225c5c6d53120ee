import { render, type VNode } from 'preact';
import { openApi } from './base/api.ts';
import { Boundary } from './base/boundary.ts';
import { html } from './base/html.ts';
import { readDomain } from './data/domain.ts';
import { Shell } from './shell.ts';
import { type Entrance, enter, type SignInFacts } from './sign-in.ts';
import { SignedOutPage } from './signed-out-page.ts';

/** Signs in, which may leave the page, and shows the console, or the reason why it cannot. */
const start = async (root: HTMLElement, facts: SignInFacts, declared: string): Promise<void> => {
  const entrance = await enter(facts).catch((error: unknown): Entrance => ({ kind: 'failed', error }));
  if (entrance.kind === 'leaving') return;
  const shown =
    entrance.kind === 'signed-in'
      ? await openShell(entrance, declared)
      : html`<${SignedOutPage} entrance=${entrance} />`;
  root.replaceChildren();
  render(html`<${Boundary} what="the console">${shown}<//>`, root);
};

/** During an upgrade, a replica of another release may lack the declaration: then the page reloads. */
const openShell = async (
  { session }: Extract<Entrance, { kind: 'signed-in' }>,
  declared: string,
): Promise<VNode> =>
  html`<${Shell} api=${openApi(session)} session=${session} domain=${await readDomain(declared)} />`;

const root = document.getElementById('console');
const { home = '', issuer = '', scope = '', domain = '' } = document.body.dataset;
if (root !== null) await start(root, { home, issuer, scope }, domain);
