import { render, type VNode } from 'preact';
import { openApi } from './base/api.ts';
import { Boundary } from './base/boundary.ts';
import { html } from './base/html.ts';
import { SignInRefused } from './base/session.ts';
import { readDomain } from './data/domain.ts';
import { Shell } from './shell.ts';
import { type Entrance, enter, type SignInFacts } from './sign-in.ts';

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

type Shut = Extract<Entrance, { readonly kind: 'signed-out' | 'beside' | 'failed' }>;

/** Shown instead of the console while nobody is signed in. */
const SignedOutPage = ({ entrance }: { readonly entrance: Shut }) => {
  const [title, text] = textOf(entrance);
  return html`<main class="threshold" id="main">
    <p class="brand">Annals <span>Console</span></p>
    <h1>${title}</h1>
    <p>${text}</p>
    ${entrance.kind !== 'beside' && html`<p><a class="button primary" href="/console">Sign in</a></p>`}
  </main>`;
};

const textOf = (entrance: Shut): readonly [title: string, text: string] => {
  if (entrance.kind === 'failed') return failureInWords(entrance.error);
  return entrance.kind === 'beside'
    ? ['You are signed in', 'Close this window, and continue in the other one.']
    : ['You are signed out', 'This page stores nothing about your session.'];
};

const failureInWords = (error: unknown): readonly [title: string, text: string] => {
  if (!(error instanceof SignInRefused))
    return ['You could not be signed in', 'The server sent an unexpected response. Try again in a moment.'];
  if (error.code === 'access_denied')
    return ['You did not sign in', 'You left the sign-in page. Sign in whenever you are ready.'];
  if (error.code === 'insecure_context') {
    return [
      'You cannot sign in securely at this address',
      'Use https, or http://localhost on the server itself: browsers offer cryptography only there.',
    ];
  }
  return [
    'You could not be signed in',
    `The authorization server refused the request: ${error.message || error.code}. Sign in again.`,
  ];
};

// At the end: it may need everything above at once.
const root = document.getElementById('console');
const { home = '', issuer = '', scope = '', domain = '' } = document.body.dataset;
if (root !== null) await start(root, { home, issuer, scope }, domain);
