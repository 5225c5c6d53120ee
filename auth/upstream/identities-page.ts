// Over 200 lines, because it is one page: the linked accounts of a person, and how they link another one.
import { Router } from 'express';
import * as z from 'zod';
import { refuseOtherMethods } from '#edge/http/answer-errors.ts';
import { type Html, html } from '#shared/html.ts';
import { mustConfirm } from '../accounts/confirmed.ts';
import { fieldsOf } from '../accounts/form.ts';
import { PageRefusal } from '../accounts/page-refusal.ts';
import type { LinkedIdentity } from '../identities/identities.ts';
import { IDENTITIES_MAX } from '../identities/identity-table.ts';
import { notifyOfChange } from '../mail/notify-of-change.ts';
import type { OwnAccountDependencies } from '../own-account/dependencies.ts';
import { type AccountPage, goTo, viewOf } from '../own-account/pages.ts';
import { securityContextOf, type Visitor, visitorOf } from '../own-account/visitor.ts';
import { type AccountView, accountPage, PATHS } from '../pages/account/account-page.ts';
import { confirmFirst } from '../pages/account/confirmation-page.ts';
import { answerPage } from '../pages/answer-page.ts';
import { messagePage } from '../pages/message-page.ts';
import type { Page } from '../pages/page.ts';
import { hidden, type Problems, summaryOf, titleOf } from '../pages/parts/field.ts';
import { momentOf } from '../pages/parts/time.ts';
import { linkOf } from './admit.ts';
import { type Problem, problemOf, TOO_LATE } from './answers.ts';
import { answerIn, linkAnswerPath, linkState, returnPathOf, ticketIn } from './return-paths.ts';
import { type Configured, finishThere, newSecrets, type UpstreamDependencies } from './sign-in.ts';

type Dependencies = OwnAccountDependencies & UpstreamDependencies;

const NAME_MAX = 40;
const ID_MAX = 50;
const Form = z.discriminatedUnion('do', [
  z.object({ do: z.literal('link'), upstream: z.string().max(NAME_MAX) }),
  z.object({ do: z.literal('unlink'), id: z.string().max(ID_MAX) }),
]);

/** Lets a person link accounts at identity providers, and unlink them. */
export const identitiesPage = (dependencies: Dependencies): AccountPage => ({
  path: PATHS.identities,
  isSensitive: true,
  show: (visitor) => answer(dependencies, visitor),
  async submit(visitor) {
    const form = fieldsOf(Form, visitor.request);
    if (form.do === 'unlink') return unlink(dependencies, visitor, form.id);
    const wanted = dependencies.configured.find(({ upstream }) => upstream.name === form.upstream);
    if (wanted === undefined) return goTo(visitor, PATHS.identities);
    if (await mustConfirm(dependencies, visitor.userId)) return goTo(visitor, PATHS.confirmation);
    return goThere(dependencies, visitor, wanted);
  },
});

const DONE = {
  linked: 'The account is linked. You can sign in with it from now on.',
  unlinked: 'The account is unlinked: nobody can sign in with it here any more.',
};

const unlink = async (dependencies: Dependencies, visitor: Visitor, id: string): Promise<void> => {
  const upstreams = dependencies.configured.map(({ upstream }) => upstream.name);
  const outcome = await dependencies.identities.unlink(
    visitor.userId,
    { id, upstreams },
    securityContextOf(visitor),
  );
  if (outcome === 'last') return answer(dependencies, visitor, LAST);
  if (outcome === 'unlinked')
    notifyOfChange(
      dependencies,
      visitor,
      'An account at an identity provider was unlinked from your account.',
    );
  goTo(visitor, PATHS.identities, outcome === 'unlinked' ? 'unlinked' : undefined);
};

const LAST: Problem = {
  problem: 'This is your only way to sign in. Choose a password or add a passkey first.',
  status: 409,
};

/** The cookie of the session has `SameSite=Lax`, so it is sent when the provider leads back. */
const linkBinding = (visitor: Visitor, name: string): readonly string[] => [
  visitor.sessionUid,
  String(visitor.userId),
  name,
];

/**
 * Begins by a form: a link of a stranger could otherwise make a person link the stranger’s account. The answer is a
 * page that leads on by itself, because `form-action` forbids a redirect to the provider.
 */
const goThere = async (
  { tickets, issuerUrl, ...dependencies }: Dependencies,
  visitor: Visitor,
  { connection }: Configured,
): Promise<void> => {
  const { name, label } = connection;
  const secrets = newSecrets();
  const ticket = tickets.issue('upstream link', linkBinding(visitor, name), secrets);
  const redirectUri = `${issuerUrl}${returnPathOf(name)}`;
  const target = await connection
    .begin({ ...secrets, redirectUri, state: linkState(ticket) }, 'any')
    .catch((error: unknown) => problemOf(error, label));
  if (!(target instanceof URL)) return answer({ tickets, issuerUrl, ...dependencies }, visitor, target);
  visitor.response.setHeader('Refresh', `0;url=${target.href}`);
  answerPage(visitor.response, {
    title: `Continue to ${label}`,
    main: html`<h1>Continue to ${label}</h1>
<p><a href="${target.href}">Sign in at ${label}</a> with the account that you want to link.</p>`,
  });
};

export const linkAnswerRoutes = (dependencies: Dependencies): Router => {
  const router = Router();
  for (const configured of dependencies.configured) {
    const path = linkAnswerPath(configured.upstream.name);
    router
      .get(path, async (request, response) => {
        const visitor = await visitorOf(dependencies, { request, response, path: PATHS.identities });
        if (visitor === undefined) throw new PageRefusal(NOT_SIGNED_IN);
        await comeBack(dependencies, visitor, configured);
      })
      .all(path, refuseOtherMethods('GET', 'HEAD'));
  }
  return router;
};

const NOT_SIGNED_IN = messagePage({
  status: 403,
  title: 'You are not signed in',
  text: 'Sign in to link an account.',
  link: { url: PATHS.identities, text: 'Sign in' },
});

const comeBack = async (
  dependencies: Dependencies,
  visitor: Visitor,
  { upstream, connection }: Configured,
): Promise<void> => {
  const { tickets, issuerUrl, identities } = dependencies;
  const failed = (problem: Problem) => answer(dependencies, visitor, problem);
  const query = answerIn(visitor.request.query);
  const state = query.get('state') ?? '';
  const content = await tickets.use('upstream link', linkBinding(visitor, connection.name), ticketIn(state));
  if (content === undefined) return failed(TOO_LATE);
  const { nonce = '', verifier = '' } = content;
  const binding = { nonce, verifier, state, redirectUri: `${issuerUrl}${returnPathOf(connection.name)}` };
  const known = await finishThere(dependencies, connection, { binding, query });
  if ('problem' in known) return failed(known);
  const link = { ...linkOf(upstream, known), by: 'user' } as const;
  const outcome = await identities.link(visitor.userId, link, securityContextOf(visitor));
  if (outcome === 'taken') return failed(takenBy(connection.label));
  if (outcome === 'refused') return failed(TOO_MANY);
  if (outcome === 'linked')
    notifyOfChange(
      dependencies,
      visitor,
      `An account at ${connection.label} was linked to your account: it signs in without your password.`,
    );
  goTo(visitor, PATHS.identities, 'linked');
};

const takenBy = (label: string): Problem => ({
  problem: `This account at ${label} is linked to another account here. Unlink it there first.`,
  status: 409,
});

const TOO_MANY: Problem = {
  problem: `You have ${IDENTITIES_MAX} linked accounts, which is the maximum. Unlink one first.`,
  status: 409,
};

const answer = async (dependencies: Dependencies, visitor: Visitor, problem?: Problem): Promise<void> => {
  const { configured, identities } = dependencies;
  const [linked, isUnconfirmed] = await Promise.all([
    identities.of(visitor.userId),
    mustConfirm(dependencies, visitor.userId),
  ]);
  const labels = new Map(configured.map(({ upstream: { name, label } }) => [name, label]));
  const view = viewOf(dependencies, visitor, DONE);
  answerPage(
    visitor.response,
    pageOf({
      ...view,
      linked: linked.map((each) => ({ ...each, label: labels.get(each.upstream) ?? each.upstream })),
      offered: configured.map(({ upstream: { name, label } }) => ({ name, label })),
      isUnconfirmed,
      problems: problem === undefined ? {} : { form: problem.problem },
      ...(problem !== undefined && { status: problem.status }),
    }),
  );
};

type Shown = LinkedIdentity & { readonly label: string };
type View = AccountView & {
  readonly linked: readonly Shown[];
  readonly offered: readonly { readonly name: string; readonly label: string }[];
  readonly isUnconfirmed: boolean;
  readonly problems: Problems<never>;
};

const pageOf = ({ linked, offered, isUnconfirmed, problems, ...view }: View): Page =>
  accountPage(view, {
    section: PATHS.security,
    title: titleOf('Linked accounts', problems),
    main: html`${summaryOf(problems)}
<h1>Linked accounts</h1>
<p class="lead">${
      linked.length === 0
        ? 'None. With a linked account you sign in without a password here.'
        : 'You sign in with these without a password here. A session that was opened with one stays when you unlink it.'
    }</p>
${linked.length > 0 && html`<ul class="items">${linked.map((each) => itemOf(each, view.token))}</ul>`}
<h2>Link an account</h2>
${isUnconfirmed ? confirmFirst('Then you can link accounts.') : linkForm(offered, view.token)}`,
  });

const linkForm = (
  offered: View['offered'],
  token: string,
): Html => html`<form method="post" action="${PATHS.identities}">
${hidden('token', token)}${hidden('do', 'link')}
<div class="actions">${offered.map(
  ({ name, label }) => html`<button type="submit" name="upstream" value="${name}">Link ${label}</button>\n`,
)}</div>
</form>`;

const itemOf = ({ id, label, shownAs, linkedAt, usedAt }: Shown, token: string): Html => html`<li><div>
<h2>${label}</h2>
<p class="small"><bdi>${shownAs}</bdi></p>
<p class="small">Linked on ${momentOf(linkedAt)}, ${usedAt === null ? 'not used yet' : html`last used on ${momentOf(usedAt)}`}</p></div>
<form method="post" action="${PATHS.identities}">
${hidden('token', token)}${hidden('id', id)}
<button type="submit" name="do" value="unlink" aria-label="Unlink ${shownAs} at ${label}">Unlink</button>
</form></li>`;
